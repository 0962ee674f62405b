"""An agent can make more directories inside one another than Python calls functions, or opens files."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.workspace.helpers import git, write
from untilgreen.gates.integrity.trial_rooms.unkept_files import compare, recall, remember_all
from untilgreen.workspace.git_workspace import GitWorkspace
from untilgreen.workspace.rmtree import remove_tree

pytestmark = pytest.mark.anyio
LEVELS = 1100
"""More than there may be calls, and in a path that is not too long for Linux."""


@pytest.fixture
def deep(tmp_path: Path) -> Iterator[Path]:
    """Where a file could be, in so many directories inside one another, in a repository."""
    git(tmp_path, "init", "--quiet", "work")
    folder = tmp_path / "work" / "deep"
    folder.mkdir()
    for _ in range(LEVELS):
        folder /= "d"
        folder.mkdir()
    yield folder / "file"
    subprocess.run(["rm", "-rf", tmp_path], check=True)  # pytest can not remove it


async def test_a_file_deep_inside_is_kept(tmp_path: Path, deep: Path) -> None:
    workspace = GitWorkspace(tmp_path / "work", "run", tmp_path / "private")
    before = await workspace.snapshot("1")
    write(deep.parent, {deep.name: "new\n"})

    after = await workspace.snapshot("2")

    assert [change.path for change in await workspace.changes(before, after)] == [
        deep.relative_to(tmp_path / "work").as_posix()
    ]


def test_ignored_directories_deep_inside_count_as_changed(tmp_path: Path, deep: Path) -> None:
    remember_all(tmp_path / "work", ["deep/"], tmp_path / "marks")

    found = compare(tmp_path / "work", ["deep/"], recall(tmp_path / "marks"), ())

    assert (found.shown, found.hidden) == ([], ["deep/"])


def test_directories_deep_inside_are_removed(tmp_path: Path, deep: Path) -> None:
    remove_tree(tmp_path / "work")

    assert not (tmp_path / "work").exists()


def test_a_link_in_place_of_a_directory_is_neither_removed_nor_followed(tmp_path: Path) -> None:
    write(tmp_path, {"theirs/folder/file": "of the user\n"})
    (tmp_path / "link").symlink_to(tmp_path / "theirs")

    with pytest.raises(OSError, match="symbolic link"):
        remove_tree(tmp_path / "link")

    assert (tmp_path / "theirs" / "folder" / "file").read_text() == "of the user\n"
