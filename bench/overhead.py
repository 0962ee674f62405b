"""The cost of a lap beyond the agent and the gates, compared with a bare shell loop that does the same.

The agent changes no file, one or ten files in every lap, in a repository of 50 files, and one file in one of
100,000. One gate stays red. Ours is a real `untilgreen run`. The baseline is a shell loop with the same agent
and gate, `git add -A; write-tree; commit-tree; update-ref` on a private index, and one fsynced line per lap;
for 100,000 files it is only `git add -A` and `write-tree`.

A lap's cost is the difference between a long and a short run, divided by the extra laps, so that the start of
the process and the first snapshot cancel out. With 100,000 files the clean room is switched off: at the start
all of them are written into it, which takes so long that its noise would hide a lap. Left out: large outputs
(bench/outputs.py), several gates (bench/gates.py), a green lap with its clean room (bench/integrity.py), a
slow agent: while it works, nothing of ours runs.

`python -m bench.overhead [CASE…]` with the numbers of the cases, from 1; ROUNDS=2 for a quick look.
"""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from bench._measure import ROUNDS, Cost, cost, each_lap, ratio, repository, script

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
MANY = 1000
"""From this many files on, the baseline is git alone, and there are at most three rounds."""


class Case(NamedTuple):
    """One kind of repository and agent."""

    files: int
    changed: int
    short: int
    long: int
    most: float
    """The bar for CPU time and for wall time."""


CASES = (
    Case(files=50, changed=0, short=5, long=35, most=1.6),
    Case(files=50, changed=1, short=5, long=35, most=1.6),
    Case(files=50, changed=10, short=5, long=25, most=1.6),
    Case(files=100_000, changed=1, short=2, long=20, most=1.4),
)


def main() -> int:
    """Print the figures, and fail when a bar is missed."""
    missed = 0
    for case in [CASES[int(word) - 1] for word in sys.argv[1:]] or CASES:
        with TemporaryDirectory() as name:
            missed += not _measured(case, Path(name))
    return int(missed > 0)


def _measured(case: Case, folder: Path) -> bool:
    work = repository(folder / "work", {_name(each): f"{each}\n" * 50 for each in range(case.files)})
    names = " ".join(_name(number) for number in range(case.changed))
    agent = script(folder / "agent.sh", f"for file in {names}; do echo $$ > $file; done\n" if names else "")
    run, loop = (partial(each, case, work, agent, folder) for each in (_run, _loop))
    rounds = ROUNDS if case.files < MANY else min(ROUNDS, 3)
    least = each_lap({"ours": run, "loop": loop}, case.short, case.long, rounds)
    found = ratio(least["ours"], least["loop"])
    print(
        f"{case.files:,} files, {case.changed} changed per lap: {least['ours']}; shell loop (baseline) "
        f"{least['loop']}; {found}, bar {case.most:.2f}",
        flush=True,
    )
    return max(found) <= case.most


def _run(case: Case, work: Path, agent: Path, folder: Path, laps: int) -> Cost:
    with TemporaryDirectory(dir=folder) as state:
        settings = [f"strategy={{use='fixed', iterations={laps}}}", "detectors=[]", "leave='last'"]
        settings += ["clean_room.enabled=false"] if case.files >= MANY else []
        words = [
            *(sys.executable, "-m", "untilgreen", "run", "Nothing.", "--agent", f"cmd:{agent}"),
            *("--gate", f"red={GATE}", "--quiet", "--no-input", "--state-dir", state),
            *("--max-iterations", str(laps), *(f"--set={setting}" for setting in settings)),
        ]
        return cost(words, work, expected=(3,))


def _loop(case: Case, work: Path, agent: Path, folder: Path, laps: int) -> Cost:
    with TemporaryDirectory(dir=folder) as private:
        subprocess.run(["cp", work / ".git" / "index", f"{private}/index"], check=True)
        variables = {"PRIVATE": private, "LAPS": str(laps), "AGENT": str(agent), "GATE": GATE}
        variables["TREE_ONLY"] = "yes" if case.files >= MANY else ""
        return cost(["/bin/sh", "-c", LOOP], work, variables)


def _name(number: int) -> str:
    return f"{number % 100:02d}/{number:06d}.txt"


if __name__ == "__main__":
    sys.exit(main())
