"""A journal that lives as long as its object, for tests and runs that need no record."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

import anyio
from anyio.lowlevel import checkpoint

from untilgreen.core.values.events import Event, RunFinished
from untilgreen.journal.codec import End, decode, encode_all


class MemoryJournal:
    """Keeps what a file would return, so an event that can't be written fails here too."""

    def __init__(self) -> None:
        self._events: list[Event] = []
        self._end = End()
        self._waiting: list[anyio.Event] = []

    @property
    def head(self) -> str:
        """The latest hash; the same as in a file with the same events."""
        return self._end.head

    async def append(self, *events: Event) -> None:
        await checkpoint()
        data, _ = encode_all(events, self._end)
        read, self._end = decode(data, self._end)
        self._events += read
        for listener in self._waiting:
            listener.set()
        self._waiting.clear()

    async def events(self) -> Sequence[Event]:
        await checkpoint()
        return list(self._events)

    async def follow(self, after: int = 0) -> AsyncIterator[Event]:
        position = 0
        while True:
            await checkpoint()
            while position < len(self._events):
                event = self._events[position]
                position += 1
                if position > after:
                    yield event
                if isinstance(event, RunFinished):
                    return
            self._waiting.append(listener := anyio.Event())
            await listener.wait()
