"""The cost of a stop hook: without a run, with another session's run, and with its own; and races.

The installed command is measured; bars are for CPU time, which varies less than wall time on a busy machine.
Without a run of the session, compared with `python -c pass`: with no run anywhere at most 1.5 times, with a
run in another session at most 3 times. With its own run, compared with `python -c "import msgspec, anyio"`: a
stop that ends a lap (snapshot, one red gate, the next brief) and one while the run is paused, both at most
1.6 times; the cost of the gate `false` is subtracted from the former, the cost of git is not. The race: a
hook that is registered twice, so that two processes get each stop; one brief, one lap, every time.

Left out: slow gates, a large repository (bench/overhead.py), a green lap (bench/integrity.py).

`python -m bench.hooks`; ROUNDS=5 RACES=5 for a quick look.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from bench._measure import Bar, Cost, cost, interleaved, ratio, repository

ROUNDS = int(os.environ.get("ROUNDS", "40"))
RACES = int(os.environ.get("RACES", "200"))
BARS = {
    "no run anywhere": Bar(1.5),
    "a run in another session": Bar(3.0),
    "its own, judged": Bar(1.6, allowed=4.4),
    "its own, paused": Bar(1.6),
}
OWN = ("its own, judged", "its own, paused")
COMMAND = str(Path(sys.executable).with_name("untilgreen"))
MINE, OTHER = "0bd2e4a1-5c1f-4c6e-9d3b-2f1f6f0c9a11", "9f9f9f9f-0000-4000-8000-000000000000"
HOOK = [COMMAND, "hook", "stop", "--agent", "claude"]
BARE = [sys.executable, "-c", "pass"]
LIBRARIES = [sys.executable, "-c", "import msgspec, anyio"]
GATE = ["/bin/sh", "-c", "false"]


def main() -> int:
    """Print the figures, and fail above the allowed ratios, or when a race is lost."""
    with TemporaryDirectory() as name:
        least = _least(Path(name))
        lost = _races(Path(name))
    bare, libraries, gate = (least.pop(each) for each in ("bare", "libraries", "gate"))
    print(f"python -c pass (baseline): {bare}")
    print(f"python importing msgspec and anyio (baseline with its own run): {libraries}")
    failed = lost > 0
    for each, taken in least.items():
        judged = each == OWN[0]
        own = Cost(taken.cpu - gate.cpu, taken.wall - gate.wall) if judged else taken
        found, bar = ratio(own, libraries if each in OWN else bare), BARS[each]
        print(f"untilgreen hook stop, {each}: {own}; {found}; CPU time {bar.describe(found.cpu)}")
        failed |= not bar.passes(found.cpu)
    print(f"races of two hooks: {RACES}, lost: {lost}")
    return int(failed)


def _least(folder: Path) -> dict[str, Cost]:
    """The least cost of each command, measured in turns."""
    other, judged, paused = folder / "other", folder / "judged", folder / "paused"
    _start(folder / "their project", _env(other), OTHER)
    _start(folder / "judged project", _env(judged), MINE, "--gate", "false")
    _start(folder / "paused project", _env(paused), MINE, "--gate", "false")
    cost([COMMAND, "pause"], folder / "paused project", _env(paused))
    where = {
        "no run anywhere": (folder, folder / "none"),
        "a run in another session": (folder, other),
        "its own, judged": (folder / "judged project", judged),
        "its own, paused": (folder / "paused project", paused),
    }
    hooks = {name: partial(_stop, place, state) for name, (place, state) in where.items()}
    plain = {"bare": BARE, "libraries": LIBRARIES, "gate": GATE}
    expected = (0, 1)
    others = {
        name: lambda _, words=words: cost(words, folder, expected=expected) for name, words in plain.items()
    }
    return interleaved({**others, **hooks}, ROUNDS)


def _stop(place: Path, state: Path, number: int) -> Cost:
    return cost(HOOK, place, _env(state), given=_payload(number + 2))


def _start(project: Path, env: dict[str, str], session: str, *more: str) -> None:
    """Start a loop for this session, in its own project."""
    repository(project, {f"file-{number:02d}.txt": f"{number}\n" * 50 for number in range(50)})
    (project / "untilgreen.toml").write_text("detectors = []\nlimits = { time = 'unlimited' }\n")
    laps = max(RACES, ROUNDS) + 10
    cost([COMMAND, "trust", "--yes"], project, env)
    start = [COMMAND, "session", "start", "race", "--session", session, "--agent", "claude"]
    cost([*start, "--max-iterations", str(laps), *more], project, env)


def _races(folder: Path) -> int:
    """How often two hooks at once did not give exactly one brief, for the lap that is due."""
    project, env, lost = folder / "project", {**os.environ, **_env(folder / "state")}, 0
    _start(project, env, MINE)
    for lap in range(2, RACES + 2):
        pair = [
            subprocess.Popen(HOOK, cwd=project, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            for _ in range(2)
        ]
        for process in pair:
            assert process.stdin is not None
            process.stdin.write(_payload(lap))
            process.stdin.close()
            process.stdin = None
        said = [process.communicate()[0] for process in pair]
        briefs = [json.loads(text).get("reason", "") for text in said if text]
        lost += len(briefs) != 1 or f"ITERATION {lap}/" not in briefs[0]
    return lost


def _payload(lap: int) -> bytes:
    said = {"session_id": MINE, "stop_hook_active": lap > 2, "last_assistant_message": f"try {lap}"}
    return json.dumps(said).encode()


def _env(state: Path) -> dict[str, str]:
    return {"UNTILGREEN_STATE_DIR": str(state)}


if __name__ == "__main__":
    sys.exit(main())
