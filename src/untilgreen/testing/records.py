"""The laws of every record of a run, on disk or in a database; each fails with a sentence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import anyio

from untilgreen.core.loop.receive import Pause, Resume, Stop
from untilgreen.core.strategies.ralph import Ralph
from untilgreen.core.values.driver import Driver
from untilgreen.core.values.events import Event
from untilgreen.errors import JournalError, JournalLocked
from untilgreen.ports import Activity, Hold, Record, ShownActivity
from untilgreen.testing.stories import tell

_PATIENCE_SECONDS = 30.0
Make = Callable[[], Record]


async def record_laws(make: Make, scratch: Path) -> None:
    """Check a record: `make` opens the same one, empty at first, each time as another process would.

    `scratch` is an empty directory.
    """
    events = [event for _, event in tell("ab a* -*", Ralph())]
    with anyio.fail_after(_PATIENCE_SECONDS):
        await _has_one_driver(make, events)
        await _refuses_an_old_token(make, events)
        await _delivers_commands(make)
        await _takes_commands_without_a_driver(make)
        await _keeps_files(make, scratch)
        await _shows_activity(make)
        await _tells_everybody(make)


async def _has_one_driver(make: Make, events: Sequence[Event]) -> None:
    """A second driver is refused, or takes over; then the first can't write any more."""
    one, two = make(), make()
    assert await one.driver() is None, "A new record has a driver."
    async with one.hold(_driver("a", 1)) as first:
        assert first.run is None, "A law needs a record of its own: this one has events."
        await first.journal.append(events[0])
        seen = await two.driver()
        assert seen is not None, "Others see no driver."
        assert seen.place == "a", f"Others see {seen.place!r} drive instead of 'a'."
        try:
            async with two.hold(_driver("b", 2)) as second:
                await _takes_over(one, first, second, events)
        except JournalLocked:
            await one.check()
            await first.journal.append(events[1])
    assert await make().driver() is None, "A driver that has left still counts as one."


async def _takes_over(one: Record, first: Hold, second: Hold, events: Sequence[Event]) -> None:
    assert second.run is not None, "A driver that takes over is not told of the events before it."
    assert second.run.seq == 1, f"It is told of {second.run.seq} events instead of 1."
    await second.journal.append(events[1])
    try:
        await first.journal.append(events[2])
    except JournalError:
        pass
    else:
        raise AssertionError("A driver that was overtaken can still write.")
    try:
        await one.check()
    except JournalError:
        return
    raise AssertionError("A driver that was overtaken is not told.")


async def _refuses_an_old_token(make: Make, events: Sequence[Event]) -> None:
    try:
        async with make().hold(_driver("late", 1)) as late:
            assert late.run is not None, "An event was lost."
            assert late.run.seq == 2, "An old token was taken, and events were lost with it."
    except JournalLocked:
        pass
    async with make().hold(_driver("d", 3)) as hold:
        assert hold.run is not None, "The events are gone."
        assert list(await hold.journal.events()) == list(events[:2]), "An event was lost or forked."
        loaded = await make().load()
        assert (loaded.seq, loaded.head) == (hold.run.seq, hold.run.head), "Readers see another journal."


async def _delivers_commands(make: Make) -> None:
    """Each is taken once, in order of time, and its sender gets the answer."""
    sender, record = make(), make()
    async with record.hold(_driver("e", 4)):
        second = await sender.send(Stop(at=2.0, by="me"))
        first = await sender.send(Pause(at=1.0, by="me"))
        found = list(await record.arrived())
        assert [arrival.at for _, arrival in found] == [1.0, 2.0], f"Commands arrive as {found}."
        assert await sender.reply(first, 0.05) is None, "A command was answered before it was taken."
        for (letter, _), refused in zip(found, ("", "not now"), strict=True):
            await record.answered(letter, refused)
        assert await sender.reply(first, 5.0) == "", "The sender is not told that its command was taken."
        assert await sender.reply(second, 5.0) == "not now", "The sender is not told why it was refused."
        assert list(await record.arrived()) == [], "A command that was answered arrives again."


async def _takes_commands_without_a_driver(make: Make) -> None:
    """A command to a run that nobody drives ends up in its journal, or waits for the next driver."""
    sender = make()
    before = (await sender.load()).seq
    letter = await sender.send(Pause(at=3.0, by="me"))
    await sender.wake()
    if await sender.reply(letter, 0.2) is None:
        assert len(await make().arrived()) == 1, "A command that nobody took is gone."
        driver = make()
        async with driver.hold(Driver(place="e", pid=1, token=(4, 1))):
            await driver.answered(letter, "")
        return
    assert (await make().load()).seq == before + 1, "A command was answered and is not in the journal."
    letter = await sender.send(Resume(at=4.0, by="me"))
    await sender.wake()
    assert await sender.reply(letter, 5.0) == "", "The next command was not taken."


async def _keeps_files(make: Make, scratch: Path) -> None:
    path, name = anyio.Path(scratch, "printed.txt"), "output/001-tests.txt"
    await path.write_bytes(b"all that a gate printed")
    record = make()
    async with record.hold(_driver("f", 5)):
        assert await make().kept(name) is None, "A file that was not kept is there."
        await record.keep(name, Path(path))
        assert await make().kept(name) == b"all that a gate printed", "A file is not kept as it was."


async def _shows_activity(make: Make) -> None:
    """The last one, and all of a lap from an offset on."""
    record, other = make(), make()
    async with record.hold(_driver("g", 6)):
        assert await other.shown() is None, "Something is shown before anything was."
        for number, text in enumerate(("reading", "a.py")):
            activity = Activity(kind="text", text=text)
            record.show(ShownActivity(at=float(number), lap=3, activity=activity))
        seen = await _eventually(other)
        assert (seen.lap, seen.activity.text) == (3, "a.py"), f"The last activity is {seen}."
        first, offset = await other.activity(3)
        assert [each.activity.text for each in first] == ["reading", "a.py"], f"A lap showed {first}."
        record.show(ShownActivity(at=9.0, lap=3, activity=Activity(kind="text", text="done")))
        while not (rest := (await other.activity(3, offset=offset))[0]):
            await record.wait_for_news(0.1)
        assert [each.activity.text for each in rest] == ["done"], f"From an offset on there is {rest}."
        assert (await other.activity(4))[0] == [], "Another lap shows the activity of this one."


async def _eventually(record: Record) -> ShownActivity:
    while (seen := await record.shown()) is None or seen.activity.text != "a.py":
        await record.wait_for_news(0.1)
    return seen


async def _tells_everybody(make: Make) -> None:
    """`wait_for_news` returns when a command arrives, or when the given time is up."""
    record, sender = make(), make()
    async with record.hold(_driver("h", 7)):
        begun = anyio.current_time()
        await record.wait_for_news(0.1)
        assert anyio.current_time() - begun < 5.0, "Waiting for news takes longer than was asked for."
        letter = await sender.send(Pause(at=5.0, by="me"))
        while not list(await record.arrived()):
            await record.wait_for_news(1.0)
        await record.answered(letter, "")


def _driver(place: str, token: int) -> Driver:
    return Driver(place=place, pid=1, token=(token,))
