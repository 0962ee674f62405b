"""Ends a run that was told to end but has no driver."""

from __future__ import annotations

from contextlib import suppress

from untilgreen.engine.driving.drive import drive
from untilgreen.engine.driving.sending import must_end
from untilgreen.engine.loop.seat import UNATTENDED
from untilgreen.engine.store.reading import state_of
from untilgreen.engine.worktree.place import Premises
from untilgreen.errors import JournalLocked, WorkspaceNotReady
from untilgreen.ports import Record


async def end_undriven(record: Record, premises: Premises) -> bool:
    """End a run that was told to end, if it has no driver and its directory is free."""
    if not must_end(await state_of(record)):
        return False
    with suppress(JournalLocked, WorkspaceNotReady):
        return (await drive(record, premises, UNATTENDED)).outcome is not None
    return False
