"""Directories whose times have not changed since the last listing hold the same names; else git is asked."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.workspace.helpers import git, write
from untilgreen.workspace.file_stamps import FRESH_NANOSECONDS
from untilgreen.workspace.folder_stamps import MOST_FOLDERS, Folders, folders


@pytest.fixture
def place(tmp_path: Path) -> Path:
    git(tmp_path, "init", "--quiet")
    write(tmp_path, {"a.txt": "1\n", "d/e/f.txt": "1\n", "d/.gitignore": "*.log\n", "d/x.log": "1\n"})
    return tmp_path


def listed(place: Path, before: Folders | None = None) -> Folders:
    found = folders(os.fsencode(place), before)
    assert found is not None
    return found


def settled(place: Path) -> Folders:
    time.sleep(1.2 * FRESH_NANOSECONDS / 1e9)
    found = listed(place)
    assert found.settled()
    return found


def rename(place: Path) -> None:
    (place / "d/e/f.txt").rename(place / "d/e/g.txt")


def add_with_old_time(place: Path) -> None:
    """Put the modification time back: only the change time, which can't be set, shows the new file."""
    before = (place / "d/e").stat()
    write(place, {"d/e/new.txt": ""})
    os.utime(place / "d/e", ns=(before.st_atime_ns, before.st_mtime_ns))


def put_a_link_there(place: Path) -> None:
    (place / "d").rename(place / "moved")
    (place / "d").symlink_to("moved")


NAMES: list[Callable[[Path], object]] = [
    lambda place: write(place, {"new.txt": ""}),
    lambda place: write(place, {"d/e/deep/new.txt": ""}),
    lambda place: (place / "d/e/f.txt").unlink(),
    rename,
    add_with_old_time,
    put_a_link_there,
    lambda place: (place / "empty").mkdir(),
    lambda place: git(place / "d", "init", "--quiet"),
    lambda place: write(place, {"d/.gitignore": ""}),
    lambda place: write(place, {"d/e/.GITIGNORE": "x\n"}),
]


@pytest.mark.parametrize("deed", NAMES)
def test_whatever_comes_or_goes_or_is_ignored_shows(place: Path, deed: Callable[[Path], object]) -> None:
    before = settled(place)

    deed(place)

    assert listed(place, before).found != before.found
    assert listed(place, before).found == listed(place).found


def test_what_is_written_into_a_file_does_not_show(place: Path) -> None:
    before = settled(place)

    write(place, {"a.txt": "2\n", "d/x.log": "2\n"})
    git(place, "add", "--all")

    assert listed(place, before).found == before.found


def test_a_listing_right_after_a_change_says_that_it_may_miss_the_next_one(place: Path) -> None:
    write(place, {"d/e/new.txt": ""})

    assert not listed(place).settled()


def test_a_rule_that_was_just_written_may_be_written_again(place: Path) -> None:
    before = settled(place)
    write(place, {"d/.gitignore": "*.txt\n"})

    assert not listed(place, before).settled()


def test_a_directory_that_had_just_changed_is_read_again(place: Path) -> None:
    """Its time may be the same although a directory was added to it."""
    write(place, {"d/e/new/x.txt": ""})
    before = listed(place)
    wrong = before.found[b"d/e/"]._replace(below=())

    again = listed(place, before._replace(found={**before.found, b"d/e/": wrong}))

    assert again.found == before.found


def test_many_directories_are_left_to_git(place: Path) -> None:
    for number in range(MOST_FOLDERS):
        (place / "d" / str(number)).mkdir()

    assert folders(os.fsencode(place)) is None


def test_a_directory_that_is_gone_is_left_to_git(tmp_path: Path) -> None:
    assert folders(os.fsencode(tmp_path / "gone")) is None
