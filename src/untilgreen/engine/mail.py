"""Getting an arrival into a run, whoever drives it, and whether anybody does."""

from __future__ import annotations

from contextlib import suppress

import anyio

from untilgreen.core.receive import Arrival, Resume, receive, refusal
from untilgreen.engine import inbox, lock
from untilgreen.engine.drive import drive, state_of
from untilgreen.engine.seat import UNATTENDED
from untilgreen.engine.store import RunFolder, Store
from untilgreen.errors import JournalLocked, UserError, WorkspaceNotReady
from untilgreen.journal.file import FileJournal

PATIENCE_SECONDS = 20.0
"""How long a sender waits for whoever drives to take a command."""
LOOK_AGAIN_SECONDS = 0.5
"""After that, a sender looks whether there is still somebody who drives."""


async def deliver(folder: RunFolder, arrival: Arrival) -> str:
    """Hand it over to whoever drives, or put it into the journal oneself; the answer says why not."""
    letter = inbox.send(folder, arrival)
    with anyio.move_on_after(PATIENCE_SECONDS):
        while True:
            with suppress(JournalLocked):
                await _record_what_arrived(folder)
            answer = await inbox.reply(letter, LOOK_AGAIN_SECONDS)
            if answer is not None:
                return answer
    raise UserError(
        f"Run {folder.id} did not answer in time. The command waits for it; "
        f"see with `untilgreen show {folder.id}` whether it was taken."
    )


async def conclude(folder: RunFolder, store: Store) -> bool:
    """Bring a run that was told to end to its end, where nobody drives it and its directory is free."""
    state = await state_of(folder)
    if state.ending is None or state.outcome is not None:
        return False
    with suppress(JournalLocked, WorkspaceNotReady):
        return (await drive(folder, store, UNATTENDED)).outcome is not None
    return False


async def let_go_on(folder: RunFolder, resume: Resume) -> bool:
    """End a person's pause; True where another process drives the run, and goes on by itself."""
    state = await state_of(folder)
    if state.outcome is not None or state.pause is None or state.pause.cause is not None:
        return False
    refused = await deliver(folder, resume)
    return not refused and lock.owner(folder.lock) is not None  # who drove before may have left meanwhile


async def _record_what_arrived(folder: RunFolder) -> None:
    """Everything in the inbox, in order; the sender of each hears what became of it."""
    with lock.borrow(folder.lock, run=folder.id):
        journal = FileJournal(folder.journal)
        await journal.events()
        for path, arrival in inbox.collect(folder):
            if arrival is None:
                inbox.set_aside(path)
                continue
            state = await state_of(folder)
            for event in receive(state, arrival):
                await journal.append(event)
            inbox.respond(path, refusal(state, arrival))
            inbox.done(path)
