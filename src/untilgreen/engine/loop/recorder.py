"""The only way into a run's journal; events that come while the disk is busy share one write and one sync.

What is not on disk is in no state, and nobody is told of it.
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
"""What to record, given the state that it would follow; perhaps nothing."""


class _Batch:
    """What is written together: in the order in which it came, all of it or nothing."""

    def __init__(self) -> None:
        self.asked: list[EventsAt] = []
        self.over = anyio.Event()
        self.error: BaseException | None = None


class Recorder:
    """Writes events, and keeps the state that they lead to."""

    def __init__(self, journal: Journal, secrets: Secrets, bus: Bus, state: RunState | None) -> None:
        """`state` is the fold of the journal, where it is known."""
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
        """What is known now."""
        if self._state is None:
            raise JournalError("The journal is empty. Start a run with `untilgreen run`.")
        return self._state

    async def load(self) -> RunState:
        """The state, from the journal where it is not known yet."""
        self._state = self._state or fold(await self._journal.events())
        return self.state

    async def record(self, events_at: EventsAt) -> bool:
        """Return when the events are on disk and told; whether this call wrote them, with those of others.

        Shielded, so that journal and state never differ. Who comes while others write waits for the next
        batch, and the first to wait writes it.
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
