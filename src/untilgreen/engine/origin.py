"""Which run a command comes from, also where its agent took every trace out of the environment."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import psutil

from untilgreen.engine import ids
from untilgreen.engine.seat import INSIDE


def started_by(state_dir: Path) -> str | None:
    """The run, of those that are kept there, whose agent or gate this process descends from.

    An ancestor was started with the mark of the run, or is its driver, which holds the lock and adopts what
    leaves its family.
    """
    runs = (state_dir / ids.RUNS).resolve()
    for ancestor in psutil.Process().parents():
        with suppress(psutil.Error, OSError):  # of somebody else, or gone by now
            mark = ancestor.environ().get(INSIDE, "")
            if ids.is_one(mark) and (runs / mark).is_dir():
                return mark
            for file in ancestor.open_files():
                folder = Path(file.path).parent
                if folder.parent == runs and ids.is_one(folder.name):
                    return folder.name
    return None
