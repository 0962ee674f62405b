"""Takes the commands for a run that nobody can drive: it can be ended and paused without its files."""

from __future__ import annotations

import time

from untilgreen.core.loop.fold import apply
from untilgreen.core.loop.receive import Arrival, Cancel, Stop, receive, refusal
from untilgreen.core.values.events import Event, LapVoided, Paused, RunFinished
from untilgreen.core.values.state import RunState
from untilgreen.engine.store.inbox import take_all
from untilgreen.engine.wiring.redaction import secrets_of, without_secrets
from untilgreen.fleet.runs.record import PostgresRecord
from untilgreen.ports import Hold


async def told_to_end(record: PostgresRecord) -> bool:
    """Whether a command to end the run waits to be taken."""
    return any(isinstance(arrival, Stop | Cancel) for _, arrival in await record.arrived())


async def settle(record: PostgresRecord, trouble: str = "", *, never_driven: bool = False) -> RunState | None:
    """Record what arrived for a run without a driver, and end it if it was told to end.

    Otherwise `trouble` pauses it until a person resumes it. Returns None if somebody drives the run, or with
    `never_driven`, if somebody ever did.
    """
    async with record.hold_undriven(never=never_driven) as held:
        if held is None:
            return None
        writer, hold = held
        if hold.run is None:
            return None
        desk = _JournalOnly(hold, hold.run.state)
        await take_all(writer, desk.take)
        await desk.end_or_pause(trouble)
        await writer.note(desk.state)
        return desk.state


class _JournalOnly:
    """A run's journal, for somebody who has none of its files."""

    def __init__(self, hold: Hold, state: RunState) -> None:
        self._journal, self.state = hold.journal, state

    async def take(self, arrival: Arrival) -> str:
        """Record a command; returns why it is refused."""
        why_not = refusal(self.state, arrival)
        for event in () if why_not else receive(self.state, arrival):
            await self._record(event)
        return why_not

    async def end_or_pause(self, trouble: str) -> None:
        """Carry out the commands where no lap can continue, or pause the run."""
        now = max(time.time(), self.state.now)
        if self.state.outcome is not None:
            return
        if self.state.stop is not None and self.state.ending is None and self.state.open is not None:
            lap = self.state.open.number  # it was to end after this lap, which nobody can continue
            await self._record(LapVoided(at=now, lap=lap, reason="no worker can continue it"))
        ending, best = self.state.ending, self.state.best
        if ending is not None:
            end = RunFinished(
                at=now,
                outcome=ending.outcome,
                reason=ending.reason,
                best=best.lap if best else None,
                best_snapshot=best.snapshot if best else None,
                final_snapshot=self.state.tree,
            )
            await self._record(end)
        elif trouble and (self.state.pause is None or self.state.pause.cause is not None):
            await self._record(Paused(at=now, reason=trouble))

    async def _record(self, event: Event) -> None:
        event = without_secrets(event, secrets_of(self.state.plan))
        state = apply(self.state, event)
        await self._journal.append(event)
        self.state = state
