"""A run's folder obeys the laws of records."""

import os
from pathlib import Path

import pytest

from untilgreen.core.loop.receive import Answer, Steer
from untilgreen.core.values.driver import Driver
from untilgreen.core.values.events import RunStarted
from untilgreen.engine.store.folder_record import FolderRecord
from untilgreen.engine.store.runs import Store
from untilgreen.journal.file import FileJournal
from untilgreen.ports import Record, Records
from untilgreen.testing import record_laws
from untilgreen.testing.world import World


@pytest.mark.anyio
async def test_a_folder_holds_to_the_laws_of_records(tmp_path: Path) -> None:
    path = Store(tmp_path / "state").create(1_785_000_000.0, workspace=tmp_path).path
    (tmp_path / "scratch").mkdir()

    await record_laws(lambda: FolderRecord(path), tmp_path / "scratch")


def test_a_folder_is_a_record_and_a_store_has_records(tmp_path: Path) -> None:
    assert isinstance(FolderRecord(tmp_path), Record)
    assert isinstance(Store(tmp_path), Records)


def steer(number: int) -> Steer:
    return Steer(at=float(number), by="me", id=f"n{number}", note=f"note {number}")


def run_in(folder: Path) -> FolderRecord:
    run = FolderRecord(Store(folder / "state").create(1_785_000_000.0, workspace=folder).path)
    FileJournal(run.journal).append_now(RunStarted(at=1.0, run=run.id, plan=World().plan))
    return run


def test_commands_that_are_recorded_at_once_are_known_without_reading_the_journal_again(
    tmp_path: Path,
) -> None:
    run = run_in(tmp_path)

    assert [run.take_at_once(steer(number)) for number in range(3)] == ["", "", ""]
    known = run.read()

    assert [note.id for note in known.state.notes] == ["n0", "n1", "n2"]
    assert run.read() is known
    assert known == FolderRecord(run.path).read()


@pytest.mark.anyio
async def test_what_was_sent_before_is_recorded_before_what_is_recorded_at_once(tmp_path: Path) -> None:
    run = run_in(tmp_path)
    letter = await run.send(steer(1))

    assert run.take_at_once(steer(2)) == ""

    assert [note.id for note in run.read().state.notes] == ["n1", "n2"]
    assert await run.reply(letter, 1) == ""


def test_what_another_process_wrote_meanwhile_is_seen_before_the_next_command(tmp_path: Path) -> None:
    run = run_in(tmp_path)
    assert run.take_at_once(steer(1)) == ""
    assert FolderRecord(run.path).take_at_once(steer(2)) == ""

    assert run.take_at_once(steer(2)) == "This note was already received."

    assert [note.id for note in run.read().state.notes] == ["n1", "n2"]


def test_a_command_that_is_recorded_at_once_takes_one_write_to_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Commands that are sent at the same moment wait for each other's writes."""
    run, synced, fsync = run_in(tmp_path), list[int](), os.fsync

    def counted(descriptor: int) -> None:
        synced.append(descriptor)
        fsync(descriptor)

    with monkeypatch.context() as counting:
        counting.setattr(os, "fsync", counted)
        assert run.take_at_once(steer(1)) == ""

    assert len(synced) == 1


def test_a_refused_command_writes_nothing(tmp_path: Path) -> None:
    run = run_in(tmp_path)
    before = run.read()

    assert "is not asking" in str(run.take_at_once(Answer(at=2.0, by="me", choice="continue")))

    assert run.read() is before
    assert list(run.inbox.glob("*.json")) == []


@pytest.mark.anyio
async def test_a_run_that_somebody_drives_is_not_written_to(tmp_path: Path) -> None:
    run = run_in(tmp_path)

    async with run.hold(Driver(place="here", pid=os.getpid(), since="now")):
        assert FolderRecord(run.path).take_at_once(steer(1)) is None

    assert run.read().state.notes == ()
