"""What a stop costs a session that has no run, and a race of two hooks, 200 times.

The installed command, the least of many runs, the commands in turn. Bars: with no run anywhere at most 1.5
times `python -c pass`, with a run in another session at most 3 times. The race: a hook that is
registered twice, so that two processes get each stop; one brief, one lap, every time.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

ROUNDS = 40
RACES = 200
BARS = {"no run anywhere": 1.5, "a run in another session": 3.0}
COMMAND = str(Path(sys.executable).with_name("untilgreen"))
MINE, OTHER = "0bd2e4a1-5c1f-4c6e-9d3b-2f1f6f0c9a11", "9f9f9f9f-0000-4000-8000-000000000000"
HOOK = [COMMAND, "hook", "stop", "--agent", "claude"]


def main() -> int:
    """Print the figures, and fail when a bar is missed or a race is lost."""
    with TemporaryDirectory() as folder:
        least = _least(Path(folder))
        lost = _races(Path(folder))
    baseline = least.pop("baseline")
    print(f"python -c pass (baseline): {baseline * 1e3:.1f} ms")
    for name, seconds in least.items():
        print(
            f"untilgreen hook stop, {name}: {seconds * 1e3:.1f} ms, "
            f"ratio {seconds / baseline:.2f}, bar {BARS[name]:.2f}"
        )
    print(f"races of two hooks: {RACES}, lost: {lost}")
    return int(lost > 0 or any(seconds > BARS[name] * baseline for name, seconds in least.items()))


def _least(folder: Path) -> dict[str, float]:
    """The shortest time of each, which run in turn."""
    other = folder / "other"
    (other / "sessions").mkdir(parents=True)
    (other / "sessions" / OTHER).write_text("{}")
    where = {"baseline": folder, "no run anywhere": folder / "none", "a run in another session": other}
    least = dict.fromkeys(where, float("inf"))
    for _ in range(ROUNDS):
        for name, state in where.items():
            command = [sys.executable, "-c", "pass"] if name == "baseline" else HOOK
            started = perf_counter()
            subprocess.run(command, env=_env(state), input=_payload(1), capture_output=True, check=True)
            least[name] = min(least[name], perf_counter() - started)
    return least


def _races(folder: Path) -> int:
    """How often two hooks at once did not give exactly one brief, of the lap that is due."""
    project, env, lost = folder / "project", _env(folder / "state"), 0
    project.mkdir()
    subprocess.run(["git", "init", "-q"], cwd=project, check=True)
    (project / "untilgreen.toml").write_text("detectors = []\nlimits = { time = 'unlimited' }\n")
    start = [COMMAND, "session", "start", "race", "--session", MINE, "--agent", "claude"]
    laps = ["--max-iterations", str(RACES + 10)]
    subprocess.run([*start, *laps], cwd=project, env=env, capture_output=True, check=True)
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
    variables = {**os.environ, "UNTILGREEN_STATE_DIR": str(state)}
    variables.pop("PYTHONDONTWRITEBYTECODE", None)  # what is installed has its bytecode beside it
    return variables


if __name__ == "__main__":
    sys.exit(main())
