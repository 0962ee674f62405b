"""The files that a run keeps next to its journal, and who sees the agent's activity."""

import shutil
from pathlib import Path

import pytest

from untilgreen.engine.store.artifacts import RunFiles, Watcher
from untilgreen.engine.store.folder_record import FolderRecord
from untilgreen.ports import Activity
from untilgreen.testing.doubles import FakeClock


@pytest.fixture
def record(tmp_path: Path) -> FolderRecord:
    (tmp_path / "run" / "activity").mkdir(parents=True)
    return FolderRecord(tmp_path / "run")


def files(record: FolderRecord, *watchers: Watcher) -> RunFiles:
    return RunFiles(record, record.scratch, FakeClock(), watchers)


@pytest.mark.anyio
async def test_other_processes_see_the_last_thing_that_was_shown(record: FolderRecord) -> None:
    assert await record.shown() is None

    files(record).report(1, 1, Activity(kind="output", text="first"))
    files(record).report(2, 1, Activity(kind="output", text="last, with half a character: \ud83d"))

    last = await FolderRecord(record.path).shown()
    assert last is not None
    assert (last.lap, last.activity.text) == (2, "last, with half a character: ?")


def test_activity_that_other_processes_can_not_see_is_still_reported(record: FolderRecord) -> None:
    heard: list[Activity] = []
    shutil.rmtree(record.path)

    files(record, heard.append).report(1, 1, Activity(kind="output", text="on"))

    assert [activity.text for activity in heard] == ["on"]


def test_a_folder_that_was_removed_is_made_again_and_a_run_that_was_removed_is_not(
    record: FolderRecord,
) -> None:
    shutil.rmtree(record.path / "activity")

    files(record).keep_brief(1, 1, "fix it")

    assert record.scratch.brief(1).read_text() == "fix it"
    shutil.rmtree(record.path)
    with pytest.raises(FileNotFoundError):
        files(record).keep_brief(1, 1, "fix it")
    assert not record.path.exists()
