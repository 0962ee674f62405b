"""Waiting for a change ends as soon as there is one, and otherwise after the given time."""

import sys
from pathlib import Path

import anyio
import pytest

from untilgreen.journal import folder_changes
from untilgreen.journal.folder_changes import FolderChanges

pytestmark = pytest.mark.anyio
LONG = 20.0


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the folder is polled")
@pytest.mark.parametrize("change", ["append", "make", "move"])
async def test_the_system_reports_a_change(tmp_path: Path, change: str) -> None:
    (tmp_path / "old").write_text("a")
    (tmp_path.parent / "elsewhere").write_text("b")
    begun = anyio.current_time()

    with FolderChanges(tmp_path) as changes:
        if change == "append":
            (tmp_path / "old").write_text("ab")
        elif change == "make":
            (tmp_path / "new").touch()
        else:
            (tmp_path.parent / "elsewhere").rename(tmp_path / "new")
        await changes.wait(LONG)

    assert anyio.current_time() - begun < LONG / 2


async def test_without_a_change_it_returns_in_time(tmp_path: Path) -> None:
    with FolderChanges(tmp_path) as changes, anyio.fail_after(LONG):
        await changes.wait(0.05)


@pytest.mark.parametrize("missing", ["library", "folder"])
async def test_where_the_system_reports_nothing_it_is_time_to_look(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    if missing == "library":
        monkeypatch.setattr(folder_changes, "_library", lambda: None)

    with FolderChanges(tmp_path / "gone" if missing == "folder" else tmp_path) as changes:
        with anyio.fail_after(LONG / 2):
            await changes.wait(LONG)
