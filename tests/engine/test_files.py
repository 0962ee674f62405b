"""What a run keeps beside its journal: the last thing that an agent showed, for whoever watches."""

import shutil
from pathlib import Path

import pytest

from untilgreen.engine.files import FolderFiles, last_shown
from untilgreen.engine.store import RunFolder
from untilgreen.ports import Activity


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    (tmp_path / "run" / "activity").mkdir(parents=True)
    return RunFolder(tmp_path / "run")


def test_other_processes_see_the_last_thing_that_was_shown(folder: RunFolder) -> None:
    assert last_shown(folder) is None
    files = FolderFiles(folder)

    files.report(1, Activity(kind="output", text="first"))
    files.report(2, Activity(kind="output", text="last, with half a character: \ud83d"))

    last = last_shown(folder)
    assert last is not None
    assert (last.lap, last.activity.text) == (2, "last, with half a character: ?")


def test_that_nobody_else_can_be_told_stops_nothing(folder: RunFolder) -> None:
    heard: list[Activity] = []
    files = FolderFiles(folder, (heard.append,))
    shutil.rmtree(folder.path)

    files.report(1, Activity(kind="output", text="on"))

    assert [activity.text for activity in heard] == ["on"]


def test_a_damaged_note_is_as_good_as_none(folder: RunFolder) -> None:
    (folder.path / "activity" / "now.json").write_text('{"at":')

    assert last_shown(folder) is None


def test_a_folder_that_somebody_removed_is_made_again_and_a_run_that_was_removed_is_not(
    folder: RunFolder,
) -> None:
    shutil.rmtree(folder.path / "activity")

    FolderFiles(folder).keep_brief(1, 1, "mend it")

    assert folder.brief(1).read_text() == "mend it"
    shutil.rmtree(folder.path)
    with pytest.raises(FileNotFoundError):
        FolderFiles(folder).keep_brief(1, 1, "mend it")
    assert not folder.path.exists()
