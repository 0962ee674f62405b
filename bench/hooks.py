"""What a stop costs a session that has no run, and a race of two hooks, 200 times.

The installed command, the least of many runs, the commands in turn; bars are for the processor's time, which
a busy machine moves less than the clock's. Bars: with no run anywhere at most 1.5 times `python -c pass`,
with a run in another session at most 3 times. The race: a hook that is registered twice, so that two
processes get each stop; one brief, one lap, every time.
"""

from __future__ import annotations

import json
import os
import resource
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
    print(f"python -c pass (baseline): {_shown(baseline)}")
    for name, times in least.items():
        ratios = f"ratio {times[0] / baseline[0]:.2f}, bar {BARS[name]:.2f}"
        print(
            f"untilgreen hook stop, {name}: {_shown(times)}, {ratios}, "
            f"by the clock {times[1] / baseline[1]:.2f}"
        )
    print(f"races of two hooks: {RACES}, lost: {lost}")
    return int(lost > 0 or any(times[0] > BARS[name] * baseline[0] for name, times in least.items()))


def _shown(times: tuple[float, float]) -> str:
    return f"{times[0] * 1e3:.1f} ms of the processor, {times[1] * 1e3:.1f} ms"


def _least(folder: Path) -> dict[str, tuple[float, float]]:
    """The least time of each, which run in turn: the processor's, and the clock's."""
    other = folder / "other"
    _start(folder / "their project", _env(other), OTHER)
    where = {"baseline": folder, "no run anywhere": folder / "none", "a run in another session": other}
    least = dict.fromkeys(where, (float("inf"), float("inf")))
    for _ in range(ROUNDS):
        for name, state in where.items():
            command = [sys.executable, "-c", "pass"] if name == "baseline" else HOOK
            used, started = _used(), perf_counter()
            done = subprocess.run(
                command, env=_env(state), input=_payload(1), capture_output=True, check=True
            )
            taken, passed = _used() - used, perf_counter() - started
            assert not done.stdout, done.stdout
            least[name] = min(least[name][0], taken), min(least[name][1], passed)
    return least


def _used() -> float:
    """What children that have ended have used of the processor."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _start(project: Path, env: dict[str, str], session: str) -> None:
    """A loop in a session, in a project of its own."""
    project.mkdir()
    subprocess.run(["git", "init", "-q"], cwd=project, check=True)
    (project / "untilgreen.toml").write_text("detectors = []\nlimits = { time = 'unlimited' }\n")
    start = [COMMAND, "session", "start", "race", "--session", session, "--agent", "claude"]
    laps = ["--max-iterations", str(RACES + 10)]
    subprocess.run([*start, *laps], cwd=project, env=env, capture_output=True, check=True)


def _races(folder: Path) -> int:
    """How often two hooks at once did not give exactly one brief, of the lap that is due."""
    project, env, lost = folder / "project", _env(folder / "state"), 0
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
    variables = {**os.environ, "UNTILGREEN_STATE_DIR": str(state)}
    variables.pop("PYTHONDONTWRITEBYTECODE", None)  # what is installed has its bytecode beside it
    return variables


if __name__ == "__main__":
    sys.exit(main())
