"""One run for any number of followers: its journal is read and folded once."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import anyio
import anyio.abc
import msgspec
from anyio.lowlevel import checkpoint
from msgspec import Struct

from untilgreen.core.loop.fold import apply
from untilgreen.core.values.events import Event
from untilgreen.core.values.state import RunState
from untilgreen.errors import UntilgreenError, only
from untilgreen.ports import Record

LOOK_SECONDS, LOOKS = 0.5, 4
"""How often to check for a driver, and after how many checks without one the run counts as left."""
_AT_ONCE = 100
_events = msgspec.json.Decoder(Event)


class Followed(Struct, frozen=True):
    """One event, its number counted from 1, and its line as JSON."""

    seq: int
    line: bytes

    @property
    def event(self) -> Event:
        """The event itself."""
        return _events.decode(self.line)  # type: ignore[no-any-return]  # a decoder of a union has no type


class Hub:
    """Follows one record for any number of followers; `Hubs.following` makes and ends it."""

    def __init__(self, record: Record, listeners: Sequence[Callable[[Event, RunState], None]] = ()) -> None:
        """`listeners` get each event with the state after it, once, in the order of the journal."""
        self.record = record
        self._listeners = listeners
        self.state: RunState | None = None
        """The fold of all events so far."""
        self.over = False
        """Whether the run has ended, so that nothing more will come."""
        self.left = False
        """Whether the run has had no driver for a while."""
        self.error: UntilgreenError | None = None
        """Why it can't be followed any more."""
        self._lines: list[bytes] = []
        self._news = anyio.Event()

    @property
    def seq(self) -> int:
        """How many events there are."""
        return len(self._lines)

    async def follow(self, after: int = 0, *, while_driven: bool = False) -> AsyncGenerator[Followed, None]:
        """The events after that number, and then each new one; ends with the run.

        With `while_driven` it also ends when the run no longer has a driver.
        """
        position = max(0, after)
        while True:
            while position < len(self._lines):
                position += 1
                yield Followed(position, self._lines[position - 1])
            if self.error is not None:
                raise self.error
            if self.over or (while_driven and self.left):
                return
            await self._news.wait()

    async def until_left(self) -> None:
        """Return when the run is over, or no longer has a driver."""
        async for _ in self.follow(self.seq, while_driven=True):
            pass

    async def run(self) -> None:
        """Read events until the run is over or can't be read."""
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(self._watch_driver)
                async for event in self.record.open_journal().follow():
                    await self._take(event)
                group.cancel_scope.cancel()
        except BaseExceptionGroup as several:
            cause = only(several)
            if not isinstance(cause, UntilgreenError):
                raise
            self.error = cause
        self.over = True
        self._tell()

    async def _take(self, event: Event) -> None:
        self.state = apply(self.state, event)
        self._lines.append(msgspec.json.encode(event))
        for listener in self._listeners:
            listener(event, self.state)
        self._tell()
        if not len(self._lines) % _AT_ONCE:  # lets other tasks run while a long journal is read
            await checkpoint()

    async def _watch_driver(self) -> None:
        """A run has no driver just after its start, and for a moment between two drivers."""
        looks = 0
        while True:
            looks = 0 if await self.record.driver() is not None else looks + 1
            if self.left != (looks >= LOOKS):
                self.left = not self.left
                self._tell()
            await anyio.sleep(LOOK_SECONDS)

    def _tell(self) -> None:
        self._news.set()
        self._news = anyio.Event()


class Hubs:
    """The hubs of one process: one for each run that somebody follows, gone with its last follower."""

    def __init__(self) -> None:
        self._open: dict[str, tuple[Hub, anyio.CancelScope, int]] = {}
        self._group: anyio.abc.TaskGroup | None = None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Hubs]:
        """Hubs exist while this block runs."""
        async with anyio.create_task_group() as group:
            self._group = group
            try:
                yield self
            finally:
                group.cancel_scope.cancel()
                self._group = None

    def following(self, record: Record) -> AbstractAsyncContextManager[Hub]:
        """The hub of a run, while the block runs."""
        return self._following(record)

    @asynccontextmanager
    async def _following(self, record: Record) -> AsyncIterator[Hub]:
        hub, scope, followers = self._open.get(record.id) or self._begin(record)
        self._open[record.id] = (hub, scope, followers + 1)
        try:
            yield hub
        finally:
            hub, scope, followers = self._open[record.id]
            self._open[record.id] = (hub, scope, followers - 1)
            if followers == 1:
                del self._open[record.id]
                scope.cancel()

    def _begin(self, record: Record) -> tuple[Hub, anyio.CancelScope, int]:
        if self._group is None:
            raise RuntimeError("Hubs work inside `async with hubs.running()`.")
        hub, scope = Hub(record), anyio.CancelScope()
        self._group.start_soon(_run_in, hub, scope)
        return hub, scope, 0


async def _run_in(hub: Hub, scope: anyio.CancelScope) -> None:
    with scope:
        await hub.run()
