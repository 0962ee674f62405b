"""What a lap costs beyond the agent and the gates, against a bare shell loop that does the same by hand.

The agent changes no file, one or ten files in every lap, in a repository of 50 files, and one file in one of
100,000. One gate stays red. Ours is a real `untilgreen run`. The baseline is a shell loop with the same agent
and gate, `git add -A; write-tree; commit-tree; update-ref` on a private index, one fsynced line a lap; for
100,000 files it is `git add -A` and `write-tree` alone.

A lap's cost is the difference between a long and a short run, divided by the laps between them, so the start
of the process and the first snapshot cancel out. By the clock and by the processor's time of everything that
was started; the least of interleaved rounds. Left out: large outputs, several gates (bench/gates.py), a
green lap with its clean room (bench/integrity.py).
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import NamedTuple

ROUNDS = int(os.environ.get("ROUNDS", "5"))
GATE = "echo red: $$; exit 1"
LOOP = r"""
export GIT_INDEX_FILE="$PRIVATE/index"
for lap in $(seq 1 "$LAPS"); do
    "$AGENT"
    git add -A
    tree=$(git write-tree)
    [ -n "$TREE_ONLY" ] && continue
    commit=$(git commit-tree "$tree" < /dev/null)
    git update-ref "refs/loop/$lap" "$commit"
    sh -c "$GATE" > "$PRIVATE/output-$lap.txt"
    echo "lap $lap $commit red" | dd of="$PRIVATE/journal" oflag=append conv=notrunc,fsync status=none
done
"""


class Case(NamedTuple):
    """One kind of repository and agent."""

    files: int
    changed: int
    short: int
    long: int
    most: float
    """The bar, for the processor's time and for the clock's."""


CASES = (
    Case(files=50, changed=0, short=5, long=35, most=1.6),
    Case(files=50, changed=1, short=5, long=35, most=1.6),
    Case(files=50, changed=10, short=5, long=25, most=1.6),
    Case(files=100_000, changed=1, short=2, long=6, most=1.4),
)

Cost = tuple[float, float]
"""The processor's seconds, and the clock's."""


def main() -> int:
    """Print the figures, and fail when a bar is missed."""
    missed = 0
    for case in CASES:
        with TemporaryDirectory() as name:
            missed += not _measured(case, Path(name))
    return int(missed > 0)


def _measured(case: Case, folder: Path) -> bool:
    work, agent = _repository(folder / "work", case), _agent(folder, case)
    ours, loop = (float("inf"),) * 2, (float("inf"),) * 2
    for number in range(ROUNDS if case.files < 1000 else min(ROUNDS, 3)):
        ours = _least(ours, _each_lap(case, lambda laps: _run(case, work, agent, folder, laps), number))
        loop = _least(loop, _each_lap(case, lambda laps: _loop(case, work, agent, folder, laps), number))
    ratios = (ours[0] / loop[0], ours[1] / loop[1])
    print(
        f"{case.files:,} files, {case.changed} changed a lap: {_shown(ours)}; shell loop (baseline) "
        f"{_shown(loop)}; ratio {ratios[0]:.2f} by the processor, {ratios[1]:.2f} by the clock, "
        f"bar {case.most:.2f}",
        flush=True,
    )
    return max(ratios) <= case.most


def _each_lap(case: Case, measure: object, number: int) -> Cost:
    """The cost of one lap; which of the two lengths goes first changes with the round."""
    assert callable(measure)
    lengths = (case.short, case.long) if number % 2 else (case.long, case.short)
    taken = {laps: measure(laps) for laps in lengths}
    between = case.long - case.short
    first, second = ((taken[case.long][part] - taken[case.short][part]) / between for part in range(2))
    return first, second


def _run(case: Case, work: Path, agent: Path, folder: Path, laps: int) -> Cost:
    with TemporaryDirectory(dir=folder) as state:
        settings = (f"strategy={{use='fixed', iterations={laps}}}", "detectors=[]", "leave='last'")
        words = [
            *(sys.executable, "-m", "untilgreen", "run", "Nothing.", "--agent", f"cmd:{agent}"),
            *("--gate", f"red={GATE}", "--quiet", "--no-input", "--state-dir", state),
            *("--max-iterations", str(laps), *(f"--set={setting}" for setting in settings)),
        ]
        return _cost(words, work, {}, expected=3)


def _loop(case: Case, work: Path, agent: Path, folder: Path, laps: int) -> Cost:
    with TemporaryDirectory(dir=folder) as private:
        subprocess.run(["cp", work / ".git" / "index", f"{private}/index"], check=True)
        variables = {"PRIVATE": private, "LAPS": str(laps), "AGENT": str(agent), "GATE": GATE}
        variables["TREE_ONLY"] = "yes" if case.files > 1000 else ""
        return _cost(["/bin/sh", "-c", LOOP], work, variables, expected=0)


def _cost(words: list[str], work: Path, variables: dict[str, str], *, expected: int) -> Cost:
    before, started = _used(), perf_counter()
    done = subprocess.run(
        words,
        cwd=work,
        env={**os.environ, **variables},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    cost = _used() - before, perf_counter() - started
    assert done.returncode == expected, (words, done.returncode, done.stderr.decode())
    return cost


def _used() -> float:
    """What children that have ended have used of the processor."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _least(one: Cost, other: Cost) -> Cost:
    return min(one[0], other[0]), min(one[1], other[1])


def _agent(folder: Path, case: Case) -> Path:
    """A script that changes the first files."""
    agent = folder / "agent.sh"
    names = " ".join(_name(number) for number in range(case.changed))
    body = f"for file in {names}; do echo $$ > $file; done\n" if names else ""
    agent.write_text(f"#!/bin/sh\n{body}")
    agent.chmod(0o755)
    return agent


def _name(number: int) -> str:
    return f"{number % 100:02d}/{number:06d}.txt"


def _repository(work: Path, case: Case) -> Path:
    for number in range(case.files):
        place = work / _name(number)
        if number < 100:
            place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(f"{number}\n" * 50)
    settings = ("user.name N", "user.email n@example.org", "gc.auto 0")  # no packing in the background
    for words in ("init --quiet", *(f"config {setting}" for setting in settings), "add --all"):
        subprocess.run(["git", *words.split()], cwd=work, check=True)
    subprocess.run(["git", "commit", "--quiet", "--message=start"], cwd=work, check=True)
    return work


def _shown(cost: Cost) -> str:
    return f"{cost[0] * 1e3:.1f} ms of the processor, {cost[1] * 1e3:.1f} ms"


if __name__ == "__main__":
    sys.exit(main())
