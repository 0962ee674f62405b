"""How long `untilgreen resume` takes to reach its first step in a run of 10,000 laps.

A real process in a real repository, from its start until it has read, checked and folded the journal and
takes the first step; also until its agent starts. Baselines: the same run after one lap, and reading and
folding the journal alone. Bar: the first step in under 2 seconds.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import anyio

from untilgreen import Fixed, Limits
from untilgreen.config.load import Request, load
from untilgreen.core.values.events import Attached, Decided, Event
from untilgreen.engine.driving.start import start
from untilgreen.engine.store.folder_record import FolderRecord
from untilgreen.engine.store.runs import Store
from untilgreen.engine.wiring.plan import plan_of
from untilgreen.journal.codec import encode
from untilgreen.journal.reader import read
from untilgreen.testing.stories import GATE, Play

LAPS = 10_000
ROUNDS = 5
BAR_SECONDS = 2.0
PATIENCE_SECONDS = 60.0
AGENT = "#!/bin/sh\ntouch '{mark}'\nexec sleep 60\n"
COMMAND = str(Path(sys.executable).with_name("untilgreen"))


def main() -> int:
    """Print the figures, and fail when the bar is missed."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        _repository(folder)
        short, long = (_interrupted(folder, laps) for laps in (1, LAPS))
        size = long.journal.stat().st_size
        alone = min(_folded(long) for _ in range(ROUNDS))
        brief = [_resumed(short, folder) for _ in range(ROUNDS)]
        whole = [_resumed(long, folder) for _ in range(ROUNDS)]
    first, agent = min(step for step, _ in whole), min(begun for _, begun in whole)
    base, base_agent = min(step for step, _ in brief), min(begun for _, begun in brief)
    print(f"the journal of {LAPS:,} laps has {size / 1e6:.1f} MB")
    print(f"reading, checking and folding it alone (baseline): {alone:.2f} s")
    print(f"resume after one lap (baseline): first step {base:.2f} s, agent {base_agent:.2f} s")
    print(f"resume after {LAPS:,}: first step {first:.2f} s, agent {agent:.2f} s, bar {BAR_SECONDS:.2f} s")
    print(
        f"ratio to the fold alone: {first / alone:.2f}; beyond fold and start: {first - base - alone:.2f} s"
    )
    return int(first > BAR_SECONDS)


def _repository(folder: Path) -> None:
    place = folder / "project"
    place.mkdir()
    (place / "fix.sh").write_text(AGENT.format(mark=folder / "begun"))
    (place / "fix.sh").chmod(0o755)
    git = ["git", "-C", str(place), "-c", "user.name=bench", "-c", "user.email=bench@example.org"]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "begin"]):
        subprocess.run([*git, *words], check=True)


def _interrupted(folder: Path, laps: int) -> FolderRecord:
    """A run that was interrupted between two laps, after this many laps of a story."""
    place, store = folder / "project", Store(folder / "state")
    flags = {
        "agents": [f"cmd:{place / 'fix.sh'}"],
        "gates": {GATE: {"run": "false"}},
        "strategy": {"use": "fixed", "iterations": 2 * LAPS},
        "limits": {"iterations": 2 * LAPS, "time": "unlimited", "errors": 1000},
        "integrity": {"enabled": False},
    }
    loaded = load(Request(start=place, flags=flags, task="make it green", search=False))
    plan = plan_of(loaded, place)
    run = anyio.run(start, plan, store)
    end, lines = read(run.journal)[1], []
    for event in _laps(laps, plan.agents[0].name):
        line, end = encode(event, end)
        lines.append(line)
    with run.journal.open("ab") as file:
        file.writelines(lines)
    return run


def _laps(laps: int, agent: str) -> Iterator[Event]:
    """The events from the start of the run, without it, to the decision after the last lap."""
    letters = "abcdefghij"
    words = " ".join(first + second for first in letters for second in letters if first != second)
    limits = Limits(iterations=laps + 1, time="unlimited")
    play = Play(f"{words} " * (laps // 90 + 1), Fixed(iterations=laps + 1), limits=limits, agents=[agent])
    told = (event for _, event in play.start())
    decided = 0
    for event in islice(told, 1, None):
        yield event
        decided += isinstance(event, Decided)
        if decided == laps:
            return


def _folded(run: FolderRecord) -> float:
    """The seconds to fold the journal in a new process, which has no cache; without the process's start."""
    code = (
        "import sys, time; from pathlib import Path; "
        "from untilgreen.engine.store.folder_record import FolderRecord; "
        "begun = time.perf_counter(); "
        "FolderRecord(Path(sys.argv[1])).read(); print(time.perf_counter() - begun)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(run.path)], capture_output=True, check=True)
    return float(done.stdout)


def _resumed(run: FolderRecord, folder: Path) -> tuple[float, float]:
    """Resume the run and interrupt it again; the seconds to its first step, and to its agent's start."""
    mark, before = folder / "begun", run.journal.read_bytes()
    mark.unlink(missing_ok=True)
    command = [COMMAND, "resume", run.id, "--state-dir", str(folder / "state"), "--quiet", "--no-input"]
    started, wall = perf_counter(), time.time()
    process = subprocess.Popen(command, cwd=folder / "project", stdout=subprocess.DEVNULL)
    while not mark.exists():
        assert process.poll() is None, "resume ended before its agent started"
        assert perf_counter() - started < PATIENCE_SECONDS, "its agent never started"
        time.sleep(0.005)
    agent = perf_counter() - started
    process.send_signal(signal.SIGINT)
    process.wait()
    told = read(run.journal)[0]
    attached = next(event for event in reversed(told) if isinstance(event, Attached))
    run.journal.write_bytes(before)
    return attached.at - wall, agent


if __name__ == "__main__":
    sys.exit(main())
