"""Getting an arrival into a run, whoever drives it, and whether anybody does."""

from __future__ import annotations

from untilgreen.core.receive import Arrival, receive, refusal
from untilgreen.engine import inbox, lock
from untilgreen.engine.clock import SystemClock
from untilgreen.engine.drive import state_of
from untilgreen.engine.store import RunFolder
from untilgreen.errors import JournalLocked, UserError
from untilgreen.journal.file import FileJournal

PATIENCE_SECONDS = 20.0
"""How long a sender waits for whoever drives to take a command."""


async def deliver(folder: RunFolder, arrival: Arrival) -> str:
    """Put it into the journal oneself where nobody drives, else hand it over; the answer says why not."""
    try:
        with lock.hold(folder.lock, run=folder.id, now=SystemClock().now()):
            return await _record(folder, arrival)
    except JournalLocked:
        letter = inbox.send(folder, arrival)
        answer = await inbox.reply(letter, PATIENCE_SECONDS)
    if answer is None:
        raise UserError(
            f"Run {folder.id} did not answer in time. The command waits for it; "
            f"see with `untilgreen show {folder.id}` whether it was taken."
        )
    return answer


async def _record(folder: RunFolder, arrival: Arrival) -> str:
    state, journal = await state_of(folder), FileJournal(folder.journal)
    why_not = refusal(state, arrival)
    await journal.events()
    for event in receive(state, arrival):
        await journal.append(event)
    return why_not
