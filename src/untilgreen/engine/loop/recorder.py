"""The only way into a run's journal; events that come while the disk is busy share one write and one sync.

An event that is not on disk is in no state, and nobody is notified of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import anyio

from untilgreen.core.loop.fold import apply, fold
from untilgreen.core.values.events import Event
from untilgreen.core.values.secrets import Secrets
from untilgreen.core.values.state import RunState
from untilgreen.engine.loop.bus import Bus
from untilgreen.engine.wiring.redaction import without_secrets
from untilgreen.errors import JournalError
from untilgreen.ports import Journal

EventsAt = Callable[[RunState], Sequence[Event]]
"""Returns the events to record, if any, given the state that they would follow."""


class _Batch:
    """Events that are written together: in the order of the calls, all of them or none."""

    def __init__(self) -> None:
        self.asked: list[EventsAt] = []
        self.over = anyio.Event()
        self.error: BaseException | None = None


class Recorder:
    """Writes events, and keeps the state that they lead to."""

    def __init__(self, journal: Journal, secrets: Secrets, bus: Bus, state: RunState | None) -> None:
        """`state` is the fold of the journal, if it is known."""
        self._journal = journal
        self._secrets = secrets
        self._bus = bus
        self._state = state
        self._door = anyio.Lock(fast_acquire=True)
        self._gathering = _Batch()
        self.written = 0
        """How many events were written."""

    @property
    def state(self) -> RunState:
        """The current state."""
        if self._state is None:
            raise JournalError("The journal is empty. Start a run with `untilgreen run`.")
        return self._state

    async def load(self) -> RunState:
        """The state; read from the journal if it is not known yet."""
        self._state = self._state or fold(await self._journal.events())
        return self.state

    async def record(self, events_at: EventsAt) -> bool:
        """Record events; returns once they are on disk and published, True if this call wrote the batch.

        Shielded from cancellation, so that journal and state never differ. Calls that come during a write
        form the next batch, and the first of them writes it.
        """
        batch = self._gathering
        batch.asked.append(events_at)
        writes = len(batch.asked) == 1
        with anyio.CancelScope(shield=True):
            if writes:
                async with self._door:
                    self._gathering = _Batch()
                    await self._settle(batch)
            else:
                await batch.over.wait()
        if batch.error is not None:
            raise batch.error
        return writes

    async def _settle(self, batch: _Batch) -> None:
        try:
            await self._write(batch)
        except BaseException as error:
            batch.error = error
        finally:
            batch.over.set()

    async def _write(self, batch: _Batch) -> None:
        state, followed = self.state, list[tuple[Event, RunState]]()
        for events_at in batch.asked:
            for event in events_at(state):
                clean = without_secrets(event, self._secrets)
                state = apply(state, clean)
                followed.append((clean, state))
        if followed:
            await self._journal.append(*(event for event, _ in followed))
        for event, state in followed:
            self._state, self.written = state, self.written + 1
            self._bus.publish(event, state)
