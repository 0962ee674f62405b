"""A journal is read once for any number of followers."""

from pathlib import Path

import anyio
import pytest

from untilgreen.core.loop.fold import fold
from untilgreen.core.strategies.fixed import Fixed
from untilgreen.core.values.events import Event
from untilgreen.core.values.state import RunState
from untilgreen.engine.store import hub as hub_module
from untilgreen.engine.store.folder_record import FolderRecord
from untilgreen.engine.store.hub import Hub, Hubs
from untilgreen.engine.store.lock import this_process
from untilgreen.engine.store.runs import Store
from untilgreen.errors import JournalDamaged
from untilgreen.journal.file import FileJournal
from untilgreen.testing.stories import tell

pytestmark = pytest.mark.anyio
EVENTS = [event for _, event in tell("ab a -", Fixed(iterations=5))]


@pytest.fixture
def record(tmp_path: Path) -> FolderRecord:
    return Store(tmp_path).create(1_785_000_000.0, workspace=tmp_path)


async def write(record: FolderRecord, events: list[Event]) -> None:
    journal = record.open_journal()
    await journal.events()
    for event in events:
        await journal.append(event)


async def test_every_follower_gets_every_event_from_its_own_position(record: FolderRecord) -> None:
    await write(record, EVENTS[:3])
    heard: dict[int, list[Event]] = {0: [], 2: [], 3: [], 1000: []}

    async def listen(hub: Hub, after: int) -> None:
        async for told in hub.follow(after):
            heard[after].append(told.event)
            assert told.seq == after + len(heard[after])

    async with Hubs().running() as hubs, hubs.following(record) as hub, anyio.create_task_group() as group:
        for after in heard:
            group.start_soon(listen, hub, after)
        await anyio.sleep(0.05)
        await write(record, EVENTS[3:])

    assert heard == {0: EVENTS, 2: EVENTS[2:], 3: EVENTS[3:], 1000: []}
    assert hub.state == fold(EVENTS)


async def test_a_journal_is_read_once_for_all(record: FolderRecord, monkeypatch: pytest.MonkeyPatch) -> None:
    await write(record, EVENTS)
    opened: list[FolderRecord] = []
    usual = FolderRecord.open_journal

    def counted(record: FolderRecord) -> FileJournal:
        opened.append(record)
        return usual(record)

    monkeypatch.setattr(FolderRecord, "open_journal", counted)

    async def listen(hubs: Hubs) -> None:
        async with hubs.following(record) as hub:
            assert [told.event async for told in hub.follow()] == EVENTS

    async with Hubs().running() as hubs, hubs.following(record), anyio.create_task_group() as group:
        for _ in range(50):
            group.start_soon(listen, hubs)

    assert len(opened) == 1


async def test_listeners_get_the_state_after_each_event(record: FolderRecord) -> None:
    await write(record, EVENTS)
    states: list[RunState] = []
    hub = Hub(record, (lambda event, state: states.append(state),))

    await hub.run()

    assert len(states) == len(EVENTS)
    assert states[-1] == fold(EVENTS)
    assert hub.over


async def test_waiting_for_a_run_to_be_left_ends_when_its_driver_leaves(
    record: FolderRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub_module, "LOOK_SECONDS", 0.02)
    await write(record, EVENTS[:2])
    hub = Hub(record)

    async with anyio.create_task_group() as group:
        async with record.hold(this_process(0.0)):
            group.start_soon(hub.run)
            with anyio.move_on_after(0.3) as watching:
                await hub.until_left()
            assert watching.cancelled_caught, "it stopped waiting while the run had a driver"
        with anyio.fail_after(20):
            await hub.until_left()
        assert not hub.over
        group.cancel_scope.cancel()


async def test_a_journal_that_can_not_be_read_is_reported_to_its_followers(record: FolderRecord) -> None:
    await write(record, EVENTS[:2])
    record.journal.write_bytes(record.journal.read_bytes().replace(b"seq", b"qes", 1))

    async with Hubs().running() as hubs, hubs.following(record) as hub:
        with pytest.raises(JournalDamaged):
            _ = [told async for told in hub.follow()]


async def test_a_hub_ends_with_its_last_follower(record: FolderRecord) -> None:
    await write(record, EVENTS[:2])
    async with Hubs().running() as hubs:
        async with hubs.following(record) as first, hubs.following(record) as second:
            assert first is second
        async with hubs.following(record) as third:
            assert third is not first
