"""A run as its journal tells it, whoever drives it and whether anybody does."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

from untilgreen.core.fold import fold
from untilgreen.core.state import RunState
from untilgreen.core.step import undecided
from untilgreen.engine.store import RunFolder
from untilgreen.errors import JournalError, RunGone
from untilgreen.journal.codec import End
from untilgreen.journal.disk import read
from untilgreen.journal.durable import identity

_SETTLED_SECONDS = 0.1  # longer than a tick of any file system's clock on a disk that runs are kept on


class Told(Struct, frozen=True):
    """How a run stands, and where its journal ended then."""

    state: RunState
    end: End


_latest: tuple[Path, tuple[int, int, int], Told] | None = None


def look(folder: RunFolder) -> Told:
    """Read the journal; one that nobody has written to since it was read last is not read again.

    A command asks several times before it drives, and a long journal takes a second to fold.
    """
    global _latest  # noqa: PLW0603 - one journal, the last; a command has one
    seen = identity(folder.journal, _SETTLED_SECONDS)
    if _latest is not None and _latest[:2] == (folder.journal, seen):
        return _latest[2]
    with _no_collecting():
        events, end = read(folder.journal)
        state = fold(events)
    if state is None and not folder.path.exists():
        raise RunGone(folder.id)
    if state is None:
        raise JournalError(f"The journal of run {folder.id} is empty. Start a new run with `untilgreen run`.")
    found = Told(state, end)
    _latest = None if seen is None else (folder.journal, seen, found)
    return found


@contextmanager
def _no_collecting() -> Iterator[None]:
    """Nothing of a journal is garbage, and looking for some takes a third of the time of reading it."""
    collected = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collected:
            gc.enable()


def told(folder: RunFolder) -> tuple[RunState, str]:
    """How the run stands, and the hash that stands for all of its journal."""
    found = look(folder)
    return found.state, found.end.head


def status(state: RunState) -> str:
    """One word for where a run stands."""
    if state.outcome is not None:
        return str(state.outcome)
    if state.ending is not None:
        return "ending"
    if state.halted is not None:
        return "halted"
    if state.asked is not None or undecided(state) is not None:
        return "waiting"
    if state.pause is not None:
        return "paused"
    return "open"
