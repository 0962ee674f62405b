"""How events get into the journal: in order, in shared writes, and published once they are on disk."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

import anyio
import pytest

from untilgreen.core.loop.fold import fold
from untilgreen.core.loop.receive import Steer
from untilgreen.core.values.events import Event, Resumed, RunStarted, Steered
from untilgreen.engine.loop.bus import Bus
from untilgreen.engine.loop.recorder import Recorder
from untilgreen.engine.loop.runner import Runner
from untilgreen.engine.loop.seat import UNATTENDED
from untilgreen.errors import JournalError
from untilgreen.journal.memory import MemoryJournal
from untilgreen.ports import Journal
from untilgreen.testing.journals import Crash, CrashingJournal
from untilgreen.testing.world import World

pytestmark = pytest.mark.anyio


class Busy:
    """A journal that writes nothing until `go` is set, and notes which events were appended together."""

    def __init__(self, inner: Journal) -> None:
        self.inner = inner
        self.go = anyio.Event()
        self.asked: list[tuple[Event, ...]] = []

    async def append(self, *events: Event) -> None:
        self.asked.append(events)
        await self.go.wait()
        await self.inner.append(*events)

    async def events(self) -> Sequence[Event]:
        return await self.inner.events()

    def follow(self, after: int = 0) -> AsyncIterator[Event]:
        return self.inner.follow(after)


def note(number: int) -> Steered:
    return Steered(at=float(number), id=f"n{number}", note=f"note {number}")


def bus_with_listener(world: World) -> Bus:
    return Bus([lambda event, _: world.heard.append(event)])


async def recorder(world: World, journal: Journal) -> Recorder:
    made = Recorder(journal, world.parts.secrets, bus_with_listener(world), None)
    await made.load()
    return made


async def test_events_that_come_while_the_disk_is_busy_are_written_together_and_in_order() -> None:
    world = await World().start()
    into = await recorder(world, journal := Busy(world.journal))

    async with anyio.create_task_group() as group:
        for number in range(5):
            group.start_soon(into.record, lambda _, number=number: (note(number),))
        await anyio.wait_all_tasks_blocked()
        before = (into.written, *world.heard)
        journal.go.set()

    assert before == (0,)
    assert journal.asked == [(note(0),), tuple(note(number) for number in range(1, 5))]
    assert world.heard == [note(number) for number in range(5)]
    assert into.state == fold(await world.journal.events())


async def test_of_the_callers_that_share_a_write_only_one_is_the_writer() -> None:
    world = await World().start()
    into = await recorder(world, journal := Busy(world.journal))
    wrote: list[bool] = []

    async def record(number: int) -> None:
        wrote.append(await into.record(lambda _: (note(number),)))

    async with anyio.create_task_group() as group:
        for number in range(5):
            group.start_soon(record, number)
        await anyio.wait_all_tasks_blocked()
        journal.go.set()

    assert sorted(wrote) == [False, False, False, True, True]
    assert len(journal.asked) == 2


async def test_an_arrival_is_judged_by_the_state_that_was_written_before_it() -> None:
    """Two notes with the same id that arrive while the disk is busy are recorded as one."""
    world = await World().start()
    journal, known = Busy(world.journal), fold(await world.journal.events())
    runner = Runner(journal, world.parts, UNATTENDED, bus_with_listener(world), known)
    twice = Steer(at=1.0, by="me", id="n1", note="Once.")

    async with anyio.create_task_group() as group:
        for arrival in (Steer(at=1.0, by="me", id="n0", note="First."), twice, twice):
            group.start_soon(runner.receive, arrival)
        await anyio.wait_all_tasks_blocked()
        journal.go.set()

    assert [each.id for each in runner.state.notes] == ["n0", "n1"]
    assert [len(events) for events in journal.asked] == [1, 1]


async def test_events_written_together_with_an_invalid_one_are_neither_kept_nor_reported() -> None:
    world = await World().start()
    into = await recorder(world, journal := Busy(world.journal))
    refused: list[int] = []
    events: tuple[Event, ...] = (note(0), note(1), Resumed(at=float("nan")), note(3))

    async def record(number: int, event: Event) -> None:
        try:
            await into.record(lambda _: (event,))
        except JournalError:
            refused.append(number)

    async with anyio.create_task_group() as group:
        for number, event in enumerate(events):
            group.start_soon(record, number, event)
        await anyio.wait_all_tasks_blocked()
        journal.go.set()

    assert sorted(refused) == [1, 2, 3]
    assert (world.heard, into.written) == ([note(0)], 1)
    assert into.state == fold(await world.journal.events())
    assert await into.record(lambda _: (note(4),))


@pytest.mark.parametrize("fuse", [2, 3, 4])
async def test_a_run_continues_after_a_crash_in_the_middle_of_a_shared_write(fuse: int) -> None:
    world = await World("a -").start()
    into = await recorder(world, journal := Busy(CrashingJournal(world.journal, fuse)))

    async def record(number: int) -> None:
        try:
            await into.record(lambda _: (note(number),))
        except Crash:
            died.append(number)

    died: list[int] = []
    async with anyio.create_task_group() as group:
        for number in range(4):
            group.start_soon(record, number)
        await anyio.wait_all_tasks_blocked()
        journal.go.set()

    kept = [event for event in await world.journal.events() if not isinstance(event, RunStarted)]
    assert kept == [note(number) for number in range(fuse)]
    assert (world.heard, sorted(died)) == ([note(0)], [1, 2, 3])
    assert (await world.runner().drive()).outcome == "converged"


async def test_a_journal_without_a_beginning_takes_nothing() -> None:
    into = Recorder(MemoryJournal(), World().parts.secrets, Bus(), None)

    with pytest.raises(JournalError, match="The journal is empty"):
        await into.record(lambda _: (note(1),))
