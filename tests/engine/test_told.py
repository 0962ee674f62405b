"""What a journal told is not asked for again as long as nobody has written to it."""

import os
from pathlib import Path

import anyio
import pytest

from untilgreen.core.events import Cancelled, RunStarted
from untilgreen.core.strategies.fixed import Fixed
from untilgreen.engine.store import RunFolder, Store
from untilgreen.engine.told import look
from untilgreen.errors import JournalError, RunGone
from untilgreen.journal.file import FileJournal
from untilgreen.testing.world import World

LONG_AGO = 1_785_000_000.0


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    return Store(tmp_path).create(LONG_AGO, workspace=tmp_path)


async def begin(run: RunFolder) -> None:
    world = World("a b -", Fixed(iterations=5))
    await FileJournal(run.journal).append(RunStarted(at=world.clock.now(), run=run.id, plan=world.plan))
    os.utime(run.journal, (LONG_AGO, LONG_AGO))


def test_a_journal_that_is_as_it_was_is_not_read_again(run: RunFolder) -> None:
    anyio.run(begin, run)
    first = look(run)
    run.journal.write_bytes(b"x" * run.journal.stat().st_size)
    os.utime(run.journal, (LONG_AGO, LONG_AGO))

    assert look(run) is first


def test_a_journal_that_was_written_to_is_read_again(run: RunFolder) -> None:
    anyio.run(begin, run)
    first = look(run)
    assert first.end.seq == 1

    async def go_on() -> None:
        journal = FileJournal(run.journal, first.end)
        await World("a b -", Fixed(iterations=5)).runner(journal=journal).drive()

    anyio.run(go_on)

    assert look(run).state.outcome is not None


def test_a_change_that_keeps_the_size_is_seen(run: RunFolder) -> None:
    anyio.run(begin, run)
    look(run)
    run.journal.write_bytes(b"x" * run.journal.stat().st_size)

    with pytest.raises(JournalError):
        look(run)


def test_a_run_that_was_removed_is_not_called_damaged(run: RunFolder) -> None:
    anyio.run(begin, run)
    Store(run.path.parents[1]).forget(run)

    with pytest.raises(RunGone, match=f"Run {run.id} is not there any more"):
        look(run)


def test_who_was_told_where_a_journal_ends_does_not_write_behind_what_came_later(run: RunFolder) -> None:
    anyio.run(begin, run)
    known = look(run)

    async def both() -> None:
        world = World("a b -", Fixed(iterations=5))
        await world.runner(journal=FileJournal(run.journal)).drive()
        with pytest.raises(JournalError, match="Another process has written"):
            await FileJournal(run.journal, known.end).append(Cancelled(at=0.0, reason="", by="me"))

    anyio.run(both)
