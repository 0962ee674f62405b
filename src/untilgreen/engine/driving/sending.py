"""Sends a command to a run, driven or not."""

from __future__ import annotations

import anyio

from untilgreen.core.loop.receive import Arrival, Resume
from untilgreen.core.values.state import RunState
from untilgreen.engine.store.reading import state_of
from untilgreen.errors import UserError
from untilgreen.ports import Record

PATIENCE_SECONDS = 20.0
"""How long a sender waits for the driver to take a command."""
LOOK_AGAIN_SECONDS = 0.5
"""After this time, a sender checks whether the run is still driven."""


async def deliver(record: Record, arrival: Arrival) -> str:
    """Hand it to the driver, or record it if there is none; returns why it was refused."""
    letter = await record.send(arrival)
    with anyio.move_on_after(PATIENCE_SECONDS):
        while True:
            await record.wake()
            answer = await record.reply(letter, LOOK_AGAIN_SECONDS)
            if answer is not None:
                return answer
    raise UserError(
        f"Run {record.id} did not answer in time. The command is queued; "
        f"`untilgreen show {record.id}` shows whether it was accepted."
    )


def must_end(state: RunState) -> bool:
    """Whether a run was told to end and has not ended."""
    return state.ending is not None and state.outcome is None


async def end_pause(record: Record, resume: Resume) -> bool:
    """End a person's pause; True if another process drives the run and continues by itself."""
    state = await state_of(record)
    if state.outcome is not None or state.pause is None or state.pause.cause is not None:
        return False
    refused = await deliver(record, resume)
    return not refused and await record.driver() is not None  # its driver may have left meanwhile
