"""How long `untilgreen list` takes with 10,000 finished runs, with and without its cache.

The installed command, the fastest of several runs, every row printed. Baselines in the same session: the same
list when all journals have to be read, and `python -c pass`. Bar: all 10,000 rows in under a second. Also
measured: `list` with its default of 30 rows, with JSON, and finding a run by the first digits of its id.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import anyio
import msgspec
from msgspec.structs import replace

from untilgreen.core.strategies.fixed import Fixed
from untilgreen.core.values.events import Event, RunStarted
from untilgreen.engine.store.catalog import NAME
from untilgreen.engine.store.run_folder import Meta
from untilgreen.journal.codec import End, encode
from untilgreen.journal.memory import MemoryJournal
from untilgreen.testing.world import World

RUNS = 10_000
ROUNDS = 7
BAR_SECONDS = 1.0
COMMAND = str(Path(sys.executable).with_name("untilgreen"))
ALL = ["list", "--limit", str(RUNS)]
LOOKS = {
    "list, all rows": ALL,
    "list --json, all rows": [*ALL, "--json"],
    "list, 30 rows": ["list"],
    "show with a part of an id": ["show", "0000123"],
}


def main() -> int:
    """Print the figures, and fail when the bar is missed."""
    with TemporaryDirectory() as folder:
        events = anyio.run(_events)
        for number in range(RUNS):
            _write(Path(folder), f"{number:07d}xx", events)
        catalog = Path(folder) / "state" / NAME
        whole, rows = _seconds([COMMAND, *ALL], Path(folder))
        assert rows == 1 + RUNS, rows  # and the header
        assert catalog.exists()
        commands = {name: [COMMAND, *words] for name, words in LOOKS.items()}
        commands["python -c pass"] = [sys.executable, "-c", "pass"]
        least = dict.fromkeys(commands, float("inf"))
        for _ in range(ROUNDS):
            for name, command in commands.items():
                least[name] = min(least[name], _seconds(command, Path(folder))[0])
        size = catalog.stat().st_size
    print(f"{RUNS:,} finished runs of {len(events)} events; the cache has {size / 1e6:.1f} MB")
    print(f"list, all rows, without the cache (baseline): {whole:.2f} s")
    baseline = least.pop("python -c pass")
    print(f"python -c pass (baseline): {baseline * 1e3:.0f} ms")
    for name, seconds in least.items():
        print(
            f"{name}: {seconds * 1e3:.0f} ms, ratio {seconds / baseline:.1f} to python -c pass, "
            f"1/{whole / seconds:.0f} of the list without the cache"
        )
    slowest = max(least.values())
    print(f"slowest: {slowest:.2f} s, bar {BAR_SECONDS:.2f} s")
    return int(slowest > BAR_SECONDS)


async def _events() -> list[Event]:
    """The events of a run of three laps."""
    world, journal = World("a b -", Fixed(iterations=5)), MemoryJournal()
    await journal.append(RunStarted(at=world.clock.now(), run="", plan=world.plan))
    await world.runner(journal=journal).drive()
    return list(await journal.events())


def _write(folder: Path, run: str, events: list[Event]) -> None:
    """Write a run's folder as a driver would, but without fsync."""
    place = folder / "state" / "runs" / run
    place.mkdir(parents=True)
    meta = Meta(workspace=str(folder.resolve()), title="make it green")
    (place / "meta.json").write_bytes(msgspec.json.encode(meta))
    end, lines = End(), []
    for event in events:
        told = replace(event, run=run) if isinstance(event, RunStarted) else event
        line, end = encode(told, end)
        lines.append(line)
    journal = place / "journal.jsonl"
    journal.write_bytes(b"".join(lines))
    os.utime(journal, (1.8e9, 1.79e9))


def _seconds(command: list[str], folder: Path) -> tuple[float, int]:
    """The seconds that it took, and the number of lines that it printed."""
    variables = {**os.environ, "UNTILGREEN_STATE_DIR": str(folder / "state")}
    variables.pop("PYTHONDONTWRITEBYTECODE", None)  # as installed, with cached bytecode
    started = perf_counter()
    done = subprocess.run(command, cwd=folder, env=variables, capture_output=True, check=True)
    return perf_counter() - started, len(done.stdout.splitlines())


if __name__ == "__main__":
    sys.exit(main())
