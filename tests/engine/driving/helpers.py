"""A small but real run: its agent is a command that writes a file, and its gate stays red."""

import shlex
import sys
from pathlib import Path
from typing import Any

from untilgreen.config.load import Request, load
from untilgreen.engine.driving.start import start
from untilgreen.engine.store.folder_record import FolderRecord
from untilgreen.engine.store.runs import Store
from untilgreen.engine.wiring.plan import plan_of

NOON = 1_785_000_000.0
_WRITE = "open('work', 'a').write('x')"


async def begun(tmp_path: Path, strategy: str, **overrides: Any) -> FolderRecord:
    """A new run without a driver."""
    place = tmp_path / "place"
    place.mkdir()
    flags = {
        "agents": [f"cmd:{shlex.join([sys.executable, '-c', _WRITE])}"],
        "strategy": strategy,
        "remedies": [],
        "gates": {"done": {"run": "ls done"}},
        **overrides,
    }
    loaded = load(Request(start=place, flags=flags, task="Write it.", search=False))
    return await start(plan_of(loaded, place), Store(tmp_path / "state"))
