"""A small real run: a command that writes a file as the agent, and a gate that stays red."""

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


async def begun(tmp_path: Path, strategy: str, **further: Any) -> FolderRecord:
    """A run that nobody drives yet."""
    place = tmp_path / "place"
    place.mkdir()
    flags = {
        "agents": [f"cmd:{shlex.join([sys.executable, '-c', _WRITE])}"],
        "strategy": strategy,
        "remedies": [],
        "gates": {"done": {"run": "ls done"}},
        **further,
    }
    loaded = load(Request(start=place, flags=flags, task="Write it.", search=False))
    return await start(plan_of(loaded, place), Store(tmp_path / "state"))
