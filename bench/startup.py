"""How long the command line takes to start, against `python -c pass`.

The installed command, the least of many runs, the commands in turn. Bars: `untilgreen --version` at most 1.5
times the baseline, `untilgreen list` with 20 finished runs at most 12 times.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import anyio

from untilgreen.core.events import RunStarted
from untilgreen.core.strategies.fixed import Fixed
from untilgreen.engine.store import Store
from untilgreen.journal.file import FileJournal
from untilgreen.testing.world import World

ROUNDS = 40
RUNS = 20
BARS = {"--version": 1.5, "list": 12.0}
COMMAND = Path(sys.executable).with_name("untilgreen")


def main() -> int:
    """Print the figures, and fail when a bar is missed."""
    with TemporaryDirectory() as folder:
        anyio.run(_finished_runs, Path(folder))
        commands = {verb: [str(COMMAND), verb] for verb in BARS}
        commands["baseline"] = [sys.executable, "-c", "pass"]
        least = _least(commands, Path(folder))
    baseline = least.pop("baseline")
    print(f"python -c pass (baseline): {baseline * 1e3:.1f} ms")
    for verb, seconds in least.items():
        print(
            f"untilgreen {verb}: {seconds * 1e3:.1f} ms, ratio {seconds / baseline:.2f}, bar {BARS[verb]:.2f}"
        )
    return int(any(seconds > BARS[verb] * baseline for verb, seconds in least.items()))


def _least(commands: dict[str, list[str]], folder: Path) -> dict[str, float]:
    """The shortest time of each command, which run in turn."""
    variables = {**os.environ, "UNTILGREEN_STATE_DIR": str(folder / "state")}
    variables.pop("PYTHONDONTWRITEBYTECODE", None)  # what is installed has its bytecode beside it
    least = dict.fromkeys(commands, float("inf"))
    for _ in range(ROUNDS):
        for name, command in commands.items():
            started = perf_counter()
            done = subprocess.run(command, cwd=folder, env=variables, capture_output=True, check=True)
            least[name] = min(least[name], perf_counter() - started)
            assert name != "list" or len(done.stdout.splitlines()) == RUNS, done.stdout.decode()
    return least


async def _finished_runs(folder: Path) -> None:
    """Runs of three laps each, as they stand in a state directory."""
    store = Store(folder / "state")
    for number in range(RUNS):
        world = World("a b -", Fixed(iterations=5))
        run = store.create(1_800_000_000.0 + number, workspace=folder, title="make it green")
        journal = FileJournal(run.journal)
        await journal.append(RunStarted(at=world.clock.now(), run=run.id, plan=world.plan))
        await world.runner(journal=journal).drive()


if __name__ == "__main__":
    sys.exit(main())
