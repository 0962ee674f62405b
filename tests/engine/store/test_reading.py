"""A journal is not read again until somebody writes to it."""

import os
from pathlib import Path

import anyio
import pytest

from untilgreen.core.strategies.fixed import Fixed
from untilgreen.core.values.events import Cancelled, RunStarted
from untilgreen.engine.store.folder_record import FolderRecord
from untilgreen.engine.store.lock import this_process
from untilgreen.engine.store.runs import Store
from untilgreen.errors import JournalError, RunGone
from untilgreen.journal.file import FileJournal
from untilgreen.testing.world import World

LONG_AGO = 1_785_000_000.0


@pytest.fixture
def run(tmp_path: Path) -> FolderRecord:
    return Store(tmp_path).create(LONG_AGO, workspace=tmp_path)


async def begin(run: FolderRecord) -> None:
    world = World("a b -", Fixed(iterations=5))
    await FileJournal(run.journal).append(RunStarted(at=world.clock.now(), run=run.id, plan=world.plan))
    os.utime(run.journal, (LONG_AGO, LONG_AGO))


def test_a_journal_that_is_as_it_was_is_not_read_again(run: FolderRecord) -> None:
    anyio.run(begin, run)
    first = run.read()
    run.journal.write_bytes(b"x" * run.journal.stat().st_size)
    os.utime(run.journal, (LONG_AGO, LONG_AGO))

    assert run.read() is first


def test_a_journal_that_was_written_to_is_read_again(run: FolderRecord) -> None:
    anyio.run(begin, run)
    first = run.read()
    assert first.seq == 1

    async def go_on() -> None:
        journal = FileJournal(run.journal)
        await World("a b -", Fixed(iterations=5)).runner(journal=journal).drive()

    anyio.run(go_on)

    assert run.read().state.outcome is not None


def test_a_change_that_keeps_the_size_is_seen(run: FolderRecord) -> None:
    anyio.run(begin, run)
    run.read()
    run.journal.write_bytes(b"x" * run.journal.stat().st_size)

    with pytest.raises(JournalError):
        run.read()


def test_a_whole_line_as_long_as_the_torn_one_before_it_is_read(run: FolderRecord) -> None:
    anyio.run(begin, run)
    start = run.journal.read_bytes()

    def with_reason(reason: str) -> bytes:
        run.journal.write_bytes(start)
        anyio.run(FileJournal(run.journal).append, Cancelled(at=LONG_AGO, reason=reason, by="me"))
        return run.journal.read_bytes()

    whole, longer = with_reason("enough"), with_reason("enough" * 9)
    for content, events in ((longer[: len(whole)], 1), (whole, 2)):
        run.journal.write_bytes(content)
        os.utime(run.journal, (LONG_AGO, LONG_AGO))

        assert run.read().seq == events


def test_a_run_that_was_removed_is_not_called_damaged(run: FolderRecord) -> None:
    anyio.run(begin, run)
    Store(run.path.parents[1]).forget(run)

    with pytest.raises(RunGone, match=f"Run {run.id} no longer exists"):
        run.read()


def test_a_driver_does_not_append_after_events_that_another_process_wrote(run: FolderRecord) -> None:
    anyio.run(begin, run)

    async def both() -> None:
        world = World("a b -", Fixed(iterations=5))
        async with run.hold(this_process(0.0)) as hold:
            await world.runner(journal=FileJournal(run.journal)).drive()
            with pytest.raises(JournalError, match="Another process has written"):
                await hold.journal.append(Cancelled(at=0.0, reason="", by="me"))

    anyio.run(both)
