"""A run as its journal tells it, whoever drives it and whether anybody does."""

from __future__ import annotations

from untilgreen.core.fold import fold
from untilgreen.core.state import RunState
from untilgreen.core.step import undecided
from untilgreen.engine.store import RunFolder
from untilgreen.errors import JournalError
from untilgreen.journal.disk import read


def told(folder: RunFolder) -> tuple[RunState, str]:
    """How the run stands, and the hash that stands for all of its journal."""
    events, end = read(folder.journal)
    state = fold(events)
    if state is None:
        raise JournalError(f"The journal of run {folder.id} is empty. Start a new run with `untilgreen run`.")
    return state, end.head


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
