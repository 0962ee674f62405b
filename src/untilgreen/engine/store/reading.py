"""Reading a run's journal, and the status of the run in one word."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from untilgreen.core.loop.fold import apply, fold
from untilgreen.core.loop.step import gate_waiting_for_people
from untilgreen.core.values.events import Event
from untilgreen.core.values.state import RunState
from untilgreen.journal.codec import End
from untilgreen.journal.reader import read
from untilgreen.ports import LoadedRun, Record

BEGINNING = 2
"""Events that a new run may have before it is driven: its start, and a note for the agent."""


def fold_file(journal: Path) -> tuple[LoadedRun | None, End]:
    """The run in a journal file, and where the file ends; None if there is no event yet."""
    with _no_collecting():
        events, end = read(journal)
        state = fold(events)
    if state is None:
        return None, end
    beginning = tuple(events) if len(events) <= BEGINNING else ()
    return LoadedRun(state=state, seq=end.seq, head=end.head, beginning=beginning), end


def loaded_after(run: LoadedRun, events: Sequence[Event], end: End) -> LoadedRun:
    """The run after further events, which were written by the process that read it."""
    state = run.state
    for event in events:
        state = apply(state, event)
    known = (*run.beginning, *events) if run.beginning else ()
    return LoadedRun(
        state=state, seq=end.seq, head=end.head, beginning=known if len(known) <= BEGINNING else ()
    )


@contextmanager
def _no_collecting() -> Iterator[None]:
    """Turn off garbage collection while reading: it would take a third of the time and find nothing."""
    collected = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collected:
            gc.enable()


async def state_of(record: Record) -> RunState:
    """A run's state from its journal, driven or not."""
    return (await record.load()).state


def status(state: RunState, *, driven: bool = False) -> str:
    """The status of a run in one word; an open one that a process drives is running."""
    if state.outcome is not None:
        return str(state.outcome)
    if state.ending is not None:
        return "ending"
    if state.halted is not None:
        return "halted"
    if state.open_question is not None or gate_waiting_for_people(state) is not None:
        return "waiting"
    if state.pause is not None:
        return "paused"
    return "running" if driven else "open"


__all__ = ["LoadedRun", "fold_file", "loaded_after", "state_of", "status"]
