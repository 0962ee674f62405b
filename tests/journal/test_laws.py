"""The laws for journals detect broken ones, and the crashing journal crashes as it should."""

from collections.abc import AsyncIterator, Callable, Sequence

import pytest

from untilgreen.core.loop.fold import fold
from untilgreen.core.strategies.ralph import Ralph
from untilgreen.core.values.events import Event, Resumed, RunFinished
from untilgreen.journal.memory import MemoryJournal
from untilgreen.ports import Journal
from untilgreen.testing import tell
from untilgreen.testing.journals import Crash, CrashingJournal, journal_laws


class Forgetful(MemoryJournal):
    """Acknowledges what follows the sixth event without keeping it."""

    async def append(self, *events: Event) -> None:
        if len(self._events) != 6:
            await super().append(*events)


class Thrifty(MemoryJournal):
    """Keeps only the first of several events."""

    async def append(self, *events: Event) -> None:
        await super().append(*events[:1])


class Piecemeal(MemoryJournal):
    """Writes one event after another, up to the first that can't be written."""

    async def append(self, *events: Event) -> None:
        for event in events:
            await super().append(event)


class Reversed(MemoryJournal):
    async def events(self) -> Sequence[Event]:
        return (await super().events())[::-1]


class Repeating(MemoryJournal):
    """Gives a listener every event twice."""

    async def follow(self, after: int = 0) -> AsyncIterator[Event]:
        async for event in super().follow(after):
            yield event
            yield event


class HardOfHearing(MemoryJournal):
    """Gives a listener only the events from before it began to listen."""

    async def follow(self, after: int = 0) -> AsyncIterator[Event]:
        for event in list(self._events)[after:]:
            yield event


class OffByOne(MemoryJournal):
    def follow(self, after: int = 0) -> AsyncIterator[Event]:
        return super().follow(max(0, after - 1))


class Deaf(MemoryJournal):
    """Keeps the end of the run from its listeners."""

    async def follow(self, after: int = 0) -> AsyncIterator[Event]:
        async for event in super().follow(after):
            if not isinstance(event, RunFinished):
                yield event


@pytest.mark.parametrize(
    "kind", [Forgetful, Thrifty, Piecemeal, Reversed, Repeating, HardOfHearing, OffByOne, Deaf]
)
async def test_a_journal_that_breaks_a_law_is_found_out(kind: Callable[[], Journal]) -> None:
    journal = kind()

    with pytest.raises(AssertionError, match="were appended"):
        await journal_laws(lambda: journal)


async def test_a_journal_that_forgets_when_it_is_opened_again_is_found_out() -> None:
    with pytest.raises(AssertionError, match="reads when opened again"):
        await journal_laws(MemoryJournal)


async def test_the_laws_need_an_empty_journal() -> None:
    journal = MemoryJournal()
    await journal.append(Resumed(at=1.0))

    with pytest.raises(AssertionError, match="has 1 events"):
        await journal_laws(lambda: journal)


async def test_a_crash_comes_once_and_after_the_event_is_kept() -> None:
    inner = MemoryJournal()
    journal = CrashingJournal(inner, fuse=2)
    await journal.append(Resumed(at=1.0))

    with pytest.raises(Crash, match="after event 2, Resumed"):
        await journal.append(Resumed(at=2.0))
    assert await inner.events() == [Resumed(at=1.0), Resumed(at=2.0)]
    await journal.append(Resumed(at=3.0))

    assert len(await journal.events()) == 3


async def test_a_crash_in_the_middle_of_several_events_keeps_the_first_of_them() -> None:
    inner = MemoryJournal()

    with pytest.raises(Crash, match="after event 2, Resumed"):
        await CrashingJournal(inner, fuse=2).append(Resumed(at=1.0), Resumed(at=2.0), Resumed(at=3.0))

    assert await inner.events() == [Resumed(at=1.0), Resumed(at=2.0)]


def test_a_crash_is_not_an_error_that_code_could_handle() -> None:
    assert not issubclass(Crash, Exception)


async def test_a_story_that_crashes_after_any_event_folds_to_the_same_state() -> None:
    events = [event for _, event in tell("ab a* -*", Ralph())]
    for fuse in range(1, len(events) + 1):
        inner = MemoryJournal()
        with pytest.raises(Crash):
            await _append_all(CrashingJournal(inner, fuse), events)
        await _append_all(inner, events[len(await inner.events()) :])

        assert fold(await inner.events()) == fold(events)


async def test_a_crashing_journal_that_does_not_crash_keeps_the_laws() -> None:
    journal = CrashingJournal(MemoryJournal(), fuse=10_000)

    await journal_laws(lambda: journal)


async def _append_all(journal: Journal, events: Sequence[Event]) -> None:
    for event in events:
        await journal.append(event)
