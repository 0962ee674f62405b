"""What a lap costs beyond the agent and the gates, against a bare shell loop that does the same by hand.

Ours: laps of a real `untilgreen run` with an agent that does nothing, one trivial gate that stays red,
snapshots and durable events, timed by the journal from the end of lap 0 on, so without the process's start.
Baseline: a shell loop with the same agent, `git add -A; write-tree; commit-tree; update-ref` on a private
index, the same gate and one fsynced line for each lap, timed by the line it prints after each lap.
Bar: the least ratio of three interleaved rounds is at most 1.5.
"""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

from untilgreen.core.events import Decided
from untilgreen.journal.codec import decode

LAPS = 30
ROUNDS = 3
MOST = 1.5
FILES = 50
AGENT = "/bin/true" if Path("/bin/true").exists() else "/usr/bin/true"
GATE = "echo red: $$; exit 1"
LOOP = r"""
export GIT_INDEX_FILE="$PRIVATE/index"
for lap in $(seq 0 "$LAPS"); do
    "$AGENT"
    git add -A
    tree=$(git write-tree)
    commit=$(git commit-tree "$tree" < /dev/null)
    git update-ref "refs/loop/$ROUND/$lap" "$commit"
    sh -c "$GATE" > "$PRIVATE/output-$lap.txt"
    echo "lap $lap $commit red" | dd of="$PRIVATE/journal" oflag=append conv=notrunc,fsync status=none
    echo "$lap"
done
"""


def main() -> int:
    """Print the figures, and fail when the bar is missed."""
    ratios = []
    with TemporaryDirectory() as name:
        folder = Path(name)
        work = _repository(folder / "work")
        for number in range(1, ROUNDS + 1):
            mine, theirs = ours(work, folder / f"state-{number}"), loop(work, folder / f"private-{number}")
            ratios.append(sum(mine) / sum(theirs))
            print(
                f"round {number}: {LAPS} laps, each {_ms(mine)}; shell loop (baseline) {_ms(theirs)}; "
                f"ratio {ratios[-1]:.2f}"
            )
    print(f"least ratio ours / shell loop: {min(ratios):.2f}, bar {MOST:.2f}")
    return int(min(ratios) > MOST)


def ours(work: Path, state: Path) -> list[float]:
    """The seconds of each lap of a run."""
    settings = (f"strategy={{use='fixed', iterations={LAPS}}}", f"limits.iterations={LAPS}", "detectors=[]")
    subprocess.run(
        [
            *(sys.executable, "-m", "untilgreen", "run", "Nothing.", "--agent", f"cmd:{AGENT}"),
            *("--gate", f"red={GATE}", "--quiet", "--no-input", "--state-dir", str(state)),
            *(f"--set={setting}" for setting in settings),
        ],
        cwd=work,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        check=False,
    )
    (journal,) = state.glob("runs/*/journal.jsonl")
    ends = [event.at for event in decode(journal.read_bytes())[0] if isinstance(event, Decided)]
    assert len(ends) == LAPS + 1, f"{len(ends)} laps were judged"
    return [later - earlier for earlier, later in pairwise(ends)]


def loop(work: Path, private: Path) -> list[float]:
    """The seconds of each lap of the loop; its first fills the index, as our baseline does."""
    private.mkdir()
    variables = {
        "PRIVATE": str(private),
        "LAPS": str(LAPS),
        "AGENT": AGENT,
        "GATE": GATE,
        "ROUND": private.name,
    }
    with subprocess.Popen(
        ["/bin/sh", "-c", LOOP], cwd=work, env={**os.environ, **variables}, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        ends = [perf_counter() for _ in process.stdout]
    assert len(ends) == LAPS + 1, f"{len(ends)} laps were done"
    return [later - earlier for earlier, later in pairwise(ends)]


def _repository(work: Path) -> Path:
    work.mkdir()
    for number in range(FILES):
        (work / f"file-{number:02d}.txt").write_text(f"{number}\n" * 50)
    for command in ("init --quiet", "config user.name N", "config user.email n@example.org", "add --all"):
        subprocess.run(["git", *command.split()], cwd=work, check=True)
    subprocess.run(["git", "commit", "--quiet", "--message=start"], cwd=work, check=True)
    return work


def _ms(laps: list[float]) -> str:
    return (
        f"{sum(laps) / len(laps) * 1e3:.1f} ms (median {median(laps) * 1e3:.1f}, least {min(laps) * 1e3:.1f})"
    )


if __name__ == "__main__":
    sys.exit(main())
