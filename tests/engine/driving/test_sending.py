"""Commands sent to a run while its driver starts or leaves."""

import errno
import os
from pathlib import Path

import anyio
import pytest

from untilgreen.core.loop.receive import Arrival, Pause, Resume, Steer
from untilgreen.core.values.events import Attached, Event, Paused, Resumed, RunStarted, Steered
from untilgreen.engine.driving.sending import end_pause
from untilgreen.engine.operations.prune import discard
from untilgreen.engine.store.folder_record import FolderRecord
from untilgreen.engine.store.inbox import take_all
from untilgreen.engine.store.lock import hold, this_process
from untilgreen.engine.store.runs import Store
from untilgreen.errors import JournalError
from untilgreen.journal.file import FileJournal
from untilgreen.testing.world import World

NOON = 1_785_000_000.0


async def begun(folder: Path, *events: Event) -> FolderRecord:
    run = Store(folder / "state").create(NOON, workspace=folder)
    for event in (RunStarted(at=NOON, run=run.id, plan=World().plan), *events):
        await FileJournal(run.journal).append(event)
    return run


def attached() -> Attached:
    return Attached(at=NOON, seat="unattended", answers=False, pid=1, host="here", version="0")


@pytest.mark.anyio
async def test_a_pause_is_ended_by_the_resuming_process_when_the_driver_goes(tmp_path: Path) -> None:
    """The process that resumes must then drive the run itself: the driver it saw before is gone."""
    run = await begun(tmp_path, attached(), Paused(at=NOON, reason="lunch"))
    elsewhere = list[bool]()

    async def resume() -> None:
        elsewhere.append(await end_pause(run, Resume(at=NOON)))

    async with anyio.create_task_group() as group:
        with hold(run.lock, run=run.id, driver=this_process(NOON)):
            group.start_soon(resume)
            await anyio.sleep(0.3)

    assert elsewhere == [False]
    assert isinstance((await FileJournal(run.journal).events())[-1], Resumed)


@pytest.mark.anyio
async def test_a_run_that_somebody_begins_to_drive_is_not_discarded(tmp_path: Path) -> None:
    run = await begun(tmp_path)

    with hold(run.lock, run=run.id, driver=this_process(NOON)):
        await discard(run)
        assert run.complete
    await discard(run)

    assert not run.path.exists()


@pytest.mark.anyio
async def test_a_command_whose_event_did_not_reach_the_disk_waits_for_the_next_driver(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = await begun(tmp_path, attached())
    letter = await run.send(Pause(at=NOON))

    def fsync(descriptor: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with monkeypatch.context() as broken:
        broken.setattr(os, "fsync", fsync)
        with pytest.raises(JournalError):
            await run.wake()

    assert await run.arrived() == [(letter, Pause(at=NOON))]
    await run.wake()
    assert await run.arrived() == []
    assert isinstance((await FileJournal(run.journal).events())[-1], Paused)


@pytest.mark.anyio
async def test_a_command_that_a_driver_fails_to_take_waits_for_the_next_one(tmp_path: Path) -> None:
    run = await begun(tmp_path, attached())
    letter = await run.send(Pause(at=NOON))

    async def take(arrival: Arrival) -> str:
        raise JournalError("The disk is full.")

    with pytest.raises(JournalError):
        await take_all(run, take)

    assert await run.arrived() == [(letter, Pause(at=NOON))]


@pytest.mark.anyio
async def test_nothing_is_written_to_the_journal_while_another_process_drives(tmp_path: Path) -> None:
    run = await begun(tmp_path, attached())
    letter = await run.send(Pause(at=NOON))

    with hold(run.lock, run=run.id, driver=this_process(NOON)):
        await run.wake()

    assert await run.arrived() == [(letter, Pause(at=NOON))]
    assert isinstance((await FileJournal(run.journal).events())[-1], Attached)


@pytest.mark.anyio
async def test_a_note_that_arrives_twice_is_taken_once(tmp_path: Path) -> None:
    """A driver may die after recording a note and before removing it from the inbox."""
    run = await begun(tmp_path, attached())
    for _ in range(2):
        await run.send(Steer(at=NOON, id="1", note="look at the clock"))

    await run.wake()

    assert [type(event) for event in await FileJournal(run.journal).events()].count(Steered) == 1
