"""Equal views hold equal files; where that is not sure, there is no stamps."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.workspace.helpers import write
from untilgreen.workspace.file_stamps import FRESH_NANOSECONDS, MOST_ENTRIES, Stamps, stamps


@pytest.fixture
def place(tmp_path: Path) -> Path:
    top = tmp_path / "top"
    write(top, {"a.txt": "1\n", "deep/er/b.txt": "2\n", ".git/HEAD": "ref: refs/heads/main\n"})
    (top / "link").symlink_to("a.txt")
    return top


def settled(place: Path) -> Stamps:
    time.sleep(2 * FRESH_NANOSECONDS / 1e9)
    seen = stamps(os.fsencode(place))
    assert seen is not None
    return seen


def rewrite(place: Path) -> None:
    """The same size, and the old time put back."""
    times = (place / "a.txt").stat()
    write(place, {"a.txt": "9\n"})
    os.utime(place / "a.txt", ns=(times.st_atime_ns, times.st_mtime_ns))


def point_elsewhere(place: Path) -> None:
    (place / "link").unlink()
    (place / "link").symlink_to("b.txt")


MOVES: dict[str, Callable[[Path], object]] = {
    "rewritten": rewrite,
    "made executable": lambda place: (place / "a.txt").chmod(0o755),
    "added": lambda place: write(place, {"deep/er/c.txt": ""}),
    "removed": lambda place: (place / "deep/er/b.txt").unlink(),
    "renamed": lambda place: (place / "a.txt").rename(place / "z.txt"),
    "an empty directory": lambda place: (place / "deep/new").mkdir(),
    "a link that points elsewhere": point_elsewhere,
}


def test_nothing_moved_is_the_same_view_whatever_git_itself_does(place: Path) -> None:
    before = settled(place)
    write(place, {".git/HEAD": "ref: refs/heads/other\n"})

    assert stamps(os.fsencode(place)) == before


@pytest.mark.parametrize("move", MOVES.values(), ids=MOVES)
def test_whatever_moved_makes_another_view(place: Path, move: Callable[[Path], object]) -> None:
    before = settled(place)
    move(place)

    assert settled(place) != before


def test_what_moved_only_just_now_is_not_trusted(place: Path) -> None:
    settled(place)
    write(place, {"a.txt": "3\n"})

    assert stamps(os.fsencode(place)) is None


def test_a_repository_inside_is_left_to_git(place: Path) -> None:
    settled(place)
    write(place, {"deep/.git": "gitdir: elsewhere\n"})
    time.sleep(2 * FRESH_NANOSECONDS / 1e9)

    assert stamps(os.fsencode(place)) is None


def test_many_files_are_left_to_git(place: Path) -> None:
    write(place, {f"many/{number}": "" for number in range(MOST_ENTRIES)})
    time.sleep(2 * FRESH_NANOSECONDS / 1e9)

    assert stamps(os.fsencode(place)) is None


def test_a_directory_that_is_gone_has_no_view(tmp_path: Path) -> None:
    assert stamps(os.fsencode(tmp_path / "gone")) is None
