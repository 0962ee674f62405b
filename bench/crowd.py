"""Fifty runs at once in worktrees of one repository: do all of them finish, and does each get its share?

Real git, real processes, one state directory. Each run's agent uses some hundredths of a second of CPU time,
increments a number in the run's own file and commits it; the gate is green when the number is high enough.
Baseline: a few of the same runs, one after another. Bars: every run converges, with its own result and no
other on its own branch; the repository is intact, without stale locks, and its index, HEAD and branches are
unchanged; all runs are listed; a run in the crowd takes at most 1.1 times the wall time of a run alone; and
progress is fair: Jain's index of the runs' laps per second, which is 1 when all are equally fast and 1/50
when one run makes all the progress, is at least 0.9.

Left out: agents that wait for a model, which leave the CPU to the others.

`python -m bench.crowd [RUNS]`
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from untilgreen.core.values.events import Event, RunFinished, SnapshotTaken
from untilgreen.journal.codec import decode

RUNS, LONELY = 50, 5
ENOUGH = 3
"""The number that turns the gates green, and so the laps of a run."""
SLOWER_BAR, FAIR_BAR = 1.1, 0.9
PATIENCE = 600.0

AGENT = f"""\
#!/bin/sh
number=$(cat "$FILE" 2> /dev/null || echo 0)
work=0; while test $work -lt 20000; do work=$((work + 1)); done
echo $((number + 1)) > "$FILE"
if test $((number + 1)) -eq {ENOUGH}; then
    git add --all
    git -c user.name=A -c user.email=a@example.org commit --quiet --message "$FILE is done"
fi
"""


class Ran(NamedTuple):
    """One run: the file that it counts in, its exit code, and its stderr."""

    file: str
    code: int
    said: str


def main() -> int:
    """Print the figures, and fail when a bar is missed."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    with TemporaryDirectory() as folder:
        lonely, alone, faults = play(Path(folder, "lonely"), LONELY, at_once=1)
        crowd, speeds, more = play(Path(folder, "crowd"), runs, at_once=runs)
    faults += more
    slower, fair = (crowd / runs) / (lonely / LONELY), _fairness(speeds)
    print(f"one after another (baseline): {LONELY} runs in {lonely:.1f} s, {lonely / LONELY:.2f} s each")
    print(f"all at once: {runs} runs in {crowd:.1f} s, {crowd / runs:.2f} s each")
    print(f"a run in the crowd takes {slower:.2f} times as long as one alone, bar {SLOWER_BAR}")
    slowest, fastest = min(speeds, default=0.0), max(speeds, default=0.0)
    print(f"laps per second: {slowest:.3f} to {fastest:.3f}, alone {sum(alone) / max(1, len(alone)):.2f}")
    print(f"Jain's index of fairness: {fair:.3f}, bar {FAIR_BAR}")
    print(f"faults: {len(faults)}, bar 0", *faults, sep="\n  ")
    return int(bool(faults) or slower > SLOWER_BAR or fair < FAIR_BAR)


def play(folder: Path, runs: int, at_once: int) -> tuple[float, list[float], list[str]]:
    """The seconds that all runs took together, the laps per second of each, and any faults."""
    work = folder / "work"
    work.mkdir(parents=True)
    (folder / "agent").write_text(AGENT)
    (folder / "agent").chmod(0o755)
    for number in range(200):
        (work / f"file-{number}.txt").write_text(f"{number}\n")
    _git(work, "init", "--quiet")
    _git(work, "add", "--all")
    _git(work, "-c", "user.name=N", "-c", "user.email=n@example.org", "commit", "--quiet", "--message=zero")
    before = _of_the_user(work)
    started = time.monotonic()
    with ThreadPoolExecutor(at_once) as pool:
        ran = list(pool.map(lambda number: _run(folder, work, number), range(runs)))
    seconds = time.monotonic() - started
    journals = [decode(path.read_bytes())[0] for path in sorted(folder.glob("state/runs/*/journal.jsonl"))]
    faults = [f"{run.file}: exit code {run.code}: {run.said}" for run in ran if run.code]
    faults += [] if _of_the_user(work) == before else ["the user's index, HEAD or branches changed"]
    faults += [*_results(work, ran), *_damage(work), *_listed(folder, work, runs)]
    return seconds, [speed for events in journals if (speed := _speed(events))], faults


def _run(folder: Path, work: Path, number: int) -> Ran:
    file = f"count-{number:02d}.txt"
    done = subprocess.run(
        [
            *(sys.executable, "-m", "untilgreen", "run", f"Count up in {file}.", "--worktree"),
            *("--agent", f"cmd:{folder / 'agent'}", "--gate", f'enough=test "$(cat {file})" -ge {ENOUGH}'),
            *("--state-dir", str(folder / "state"), "--json", "--no-input", "--set", "detectors=[]"),
        ],
        cwd=work,
        env={**os.environ, "FILE": file},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    return Ran(file, done.returncode, done.stderr.strip())


def _speed(events: Sequence[Event]) -> float:
    """Laps per second, from the run's start to its end."""
    if not isinstance(events[-1], RunFinished):
        return 0.0
    laps = {event.lap for event in events if isinstance(event, SnapshotTaken) and event.phase == "turn"}
    return len(laps) / (events[-1].at - events[0].at)


def _fairness(speeds: Sequence[float]) -> float:
    squares = len(speeds) * sum(speed * speed for speed in speeds)
    return sum(speeds) ** 2 / squares if squares else 0.0


def _results(work: Path, ran: Sequence[Ran]) -> list[str]:
    """Check that every run has a branch, and that it changed only the run's own file."""
    branches = _git(work, "for-each-ref", "--format=%(refname)", "refs/heads/untilgreen").split()
    changed = [sorted(_git(work, "diff", "--name-only", "HEAD", branch).split()) for branch in branches]
    wanted = sorted([run.file] for run in ran)
    found = sorted(changed)
    wrong = [] if found == wanted else [f"branches changed {found} instead of {wanted}"]
    pairs = zip(branches, changed, strict=True)
    counts = {_git(work, "show", f"{branch}:{file}") for branch, files in pairs for file in files}
    return wrong + ([] if counts == {f"{ENOUGH}\n"} else [f"results are {counts}"])


def _damage(work: Path) -> list[str]:
    locks = [str(path) for path in (work / ".git").rglob("*.lock")]
    command = ["git", "fsck", "--full", "--strict", "--no-dangling", "--no-progress"]
    checked = subprocess.run(command, cwd=work, capture_output=True, text=True, check=False)
    said = (checked.stdout + checked.stderr).strip()
    return [*(f"left behind: {lock}" for lock in locks), *([f"git fsck: {said}"] if said else [])]


def _listed(folder: Path, work: Path, runs: int) -> list[str]:
    command = [sys.executable, "-m", "untilgreen", "list", "--limit", str(runs + 1), "--json"]
    command += ["--state-dir", str(folder / "state")]
    listed = subprocess.run(command, cwd=work, capture_output=True, text=True, check=True).stdout
    rows = [json.loads(line).get("outcome") for line in listed.splitlines()].count("converged")
    return [] if rows == runs else [f"{rows} of {runs} runs are listed as converged"]


def _of_the_user(work: Path) -> tuple[bytes, bytes, str]:
    """What a run must not touch: the user's index, HEAD, branches, stash and tags."""
    inside = work / ".git"
    refs = _git(work, "for-each-ref", "refs/heads/main", "refs/heads/master", "refs/stash", "refs/tags")
    return (inside / "index").read_bytes(), (inside / "HEAD").read_bytes(), refs


def _git(work: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=work, capture_output=True, check=True, text=True)
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
