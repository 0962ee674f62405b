"""The laws of every journal, and a journal that breaks at a chosen event."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress

import anyio
from anyio.lowlevel import checkpoint

from untilgreen.core.strategies.ralph import Ralph
from untilgreen.core.values.events import Event, Resumed, RunFinished
from untilgreen.errors import JournalError
from untilgreen.ports import Journal
from untilgreen.testing.stories import tell

_PATIENCE_SECONDS = 30.0


class Crash(BaseException):
    """The end of a process, as far as a test can simulate it; no error handler may catch it."""


class CrashingJournal:
    """A journal whose process dies, once, right after an event was stored."""

    def __init__(self, inner: Journal, fuse: int) -> None:
        """Dies after the `fuse`-th event that goes through it, counted from 1."""
        self.inner = inner
        self.fuse = fuse
        self.appended = 0

    async def append(self, *events: Event) -> None:
        """Store the events up to the `fuse`-th; then die before the caller learns of it."""
        left = self.fuse - self.appended
        stored = events[:left] if left > 0 else events
        await self.inner.append(*stored)
        self.appended += len(stored)
        if self.appended == self.fuse:
            raise Crash(f"after event {self.fuse}, {type(stored[-1]).__name__}")

    async def events(self) -> Sequence[Event]:
        """The events of the inner journal."""
        return await self.inner.events()

    def follow(self, after: int = 0) -> AsyncIterator[Event]:
        """The events of the inner journal, and new ones as they arrive."""
        return self.inner.follow(after)


async def journal_laws(make: Callable[[], Journal]) -> None:
    """Check a journal: `make` opens the same one, empty at first, as often as it is called."""
    events = [event for _, event in tell("ab a* -*", Ralph())]
    assert isinstance(events[-1], RunFinished)
    with anyio.fail_after(_PATIENCE_SECONDS):
        await _begins_empty(make)
        await _keeps_what_it_is_given(make, events[:-3])
        await _keeps_all_or_nothing(make)
        await _tells_what_comes(make, events)
        await _tells_from_anywhere(make, events)


async def _begins_empty(make: Callable[[], Journal]) -> None:
    found = list(await make().events())
    assert found == [], f"A new journal has {len(found)} events; a law needs a journal of its own."


async def _keeps_what_it_is_given(make: Callable[[], Journal], events: Sequence[Event]) -> None:
    """Even several at once, and after it was opened again, as after a crash."""
    journal, written, size = make(), 0, 1
    while written < len(events):
        if size % 3 == 0:
            journal = make()
            await journal.events()
        await journal.append(*events[written : written + size])
        written, size = min(written + size, len(events)), size % 4 + 1
        _same(await journal.events(), events[:written], "reads")
        _same(await make().events(), events[:written], "reads when opened again")


async def _keeps_all_or_nothing(make: Callable[[], Journal]) -> None:
    """If one of several events can't be written, none is."""
    journal = make()
    before = list(await journal.events())
    with suppress(JournalError):
        await journal.append(Resumed(at=1.0), Resumed(at=float("nan")))
    _same(await make().events(), before, "has, after one of two could not be written,")


async def _tells_what_comes(make: Callable[[], Journal], events: Sequence[Event]) -> None:
    """A follower gets old and new events, each once, and ends after the last."""
    journal, written = make(), len(await make().events())
    heard: dict[int, list[Event]] = {0: [], written - 1: [], written: [], len(events) - 1: []}
    async with anyio.create_task_group() as group:
        for after, ears in heard.items():
            group.start_soon(_listen, make() if after else journal, after, ears)
        for event in events[written:]:
            await checkpoint()
            await journal.append(event)
    for after, ears in heard.items():
        _same(ears, events[after:], f"tells a listener after {after} events")


async def _tells_from_anywhere(make: Callable[[], Journal], events: Sequence[Event]) -> None:
    for after in range(len(events) + 2):
        ears: list[Event] = []
        await _listen(make(), after, ears)
        _same(ears, events[after:], f"tells a late listener after {after} events")


async def _listen(journal: Journal, after: int, ears: list[Event]) -> None:
    async for event in journal.follow(after):
        ears.append(event)


def _same(found: Sequence[Event], expected: Sequence[Event], what: str) -> None:
    kinds = [type(event).__name__ for event in found]
    wanted = [type(event).__name__ for event in expected]
    assert list(found) == list(expected), f"The journal {what} {kinds}, but {wanted} were appended."
