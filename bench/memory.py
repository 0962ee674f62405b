"""How much the driver's memory grows with its laps.

Measured twice: 1,000 laps of scripted parts with the real runner and a real journal; and 200 laps of a real
`untilgreen run` with an agent that writes a file and prints 100 lines in every turn, watched from outside.
Baseline: the resident memory of the same process after lap 20, when all code is loaded. Bar: less than 20 MB
more at lap 1,000; the shorter run is extrapolated. Left out: findings (bench/findings.py) and long outputs
(bench/outputs.py).
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio
import msgspec
import psutil

from bench._measure import repository, script
from untilgreen import Fixed, Limits
from untilgreen.core.values.events import Decided, Event, RunStarted
from untilgreen.core.values.state import RunState
from untilgreen.journal.file import FileJournal
from untilgreen.testing.world import World

LAPS, REAL_LAPS, WARM = 1_000, 200, 20
MEGABYTE = 1_000_000
MOST = 20 * MEGABYTE
WORDS = [first + second for first in "abcdefghij" for second in "klmnopqrst"]


def main() -> int:
    """Print the figures, and fail when the bar is missed."""
    with TemporaryDirectory() as name:
        growths = [
            _report("scripted parts", anyio.run(scripted, Path(name) / "journal.jsonl"), LAPS),
            _report("a real run", real(Path(name)), REAL_LAPS),
        ]
    return int(max(growths) >= MOST)


def _report(what: str, resident: dict[int, int], laps: int) -> float:
    first, last = resident[WARM], resident[laps]
    growth = (last - first) * LAPS / laps
    print(f"{what}: {first / MEGABYTE:.1f} MB at lap {WARM} (baseline)")
    print(f"{what}: {last / MEGABYTE:.1f} MB at lap {laps:,}")
    print(f"ratio: {last / first:.2f}; growth over {LAPS:,} laps: {growth / MEGABYTE:.1f} MB, bar 20.0 MB")
    return growth


async def scripted(path: Path) -> dict[int, int]:
    """The resident bytes of this process after each lap."""
    words = " ".join(WORDS[lap % len(WORDS)] for lap in range(LAPS))
    limits = Limits(iterations=LAPS, time="unlimited")
    world = World(words, Fixed(iterations=LAPS), limits=limits, detectors=())
    journal = FileJournal(path)
    await journal.append(RunStarted(at=world.clock.now(), run="memory", plan=world.plan))
    resident: dict[int, int] = {}
    process = psutil.Process()

    def look(event: Event, state: RunState) -> None:
        world.heard.clear()
        if isinstance(event, Decided):
            resident[event.lap] = process.memory_info().rss

    runner = world.runner(journal=journal)
    runner.bus.subscribe(look)
    await runner.drive()
    return resident


def real(folder: Path) -> dict[int, int]:
    """The resident bytes of a driver after each lap, read when it reports the end of the lap."""
    work = repository(folder / "work", {"file.txt": "1\n"})
    agent = script(folder / "agent.sh", "date +%N > file.txt\nseq 100\n")
    laps = REAL_LAPS + WARM  # so that the driver is still running after the last lap that counts
    settings = (f"strategy={{use='fixed', iterations={laps}}}", f"limits.iterations={laps}")
    command = [
        *(
            sys.executable,
            "-m",
            "untilgreen",
            "run",
            "Nothing.",
            "--agent",
            f"cmd:{agent}",
            "--gate",
            "echo $$; exit 1",
        ),
        *("--json", "--no-input", "--state-dir", str(folder / "state"), "--set=detectors=[]"),
        *(f"--set={setting}" for setting in settings),
    ]
    resident: dict[int, int] = {}
    with subprocess.Popen(command, cwd=work, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as driver:
        process = psutil.Process(driver.pid)
        for line in driver.stdout or ():
            event = msgspec.json.decode(line).get("event", {})
            if event.get("type") == "Decided":
                resident[event["lap"]] = process.memory_info().rss
    return resident


if __name__ == "__main__":
    sys.exit(main())
