"""A file that a listing doesn't report as changed has not changed; if that is uncertain, git is asked."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.workspace.helpers import write
from untilgreen.workspace.file_stamps import FRESH_NANOSECONDS, MOST_ENTRIES, Listing, listing


@pytest.fixture
def place(tmp_path: Path) -> Path:
    top = tmp_path / "top"
    write(top, {"a.txt": "1\n", "deep/er/b.txt": "2\n", ".git/HEAD": "ref: refs/heads/main\n"})
    (top / "link").symlink_to("a.txt")
    return top


def listed(place: Path) -> Listing:
    found = listing(os.fsencode(place))
    assert found is not None
    return found


def settled(place: Path) -> Listing:
    time.sleep(2 * FRESH_NANOSECONDS / 1e9)
    return listed(place)


def rewrite(place: Path) -> None:
    """Change the content, but keep the size and put the old times back."""
    times = (place / "a.txt").stat()
    write(place, {"a.txt": "9\n"})
    os.utime(place / "a.txt", ns=(times.st_atime_ns, times.st_mtime_ns))


def point_elsewhere(place: Path) -> None:
    (place / "link").unlink()
    (place / "link").symlink_to("b.txt")


def put_a_link_there(place: Path) -> None:
    (place / "a.txt").unlink()
    (place / "a.txt").symlink_to("deep")


def replace(place: Path) -> None:
    write(place, {"other": "9\n"})
    (place / "other").rename(place / "a.txt")


MOVES: dict[str, tuple[Callable[[Path], object], list[bytes] | None]] = {
    "rewritten": (rewrite, [b"a.txt"]),
    "replaced": (replace, [b"a.txt"]),
    "made executable": (lambda place: (place / "a.txt").chmod(0o755), [b"a.txt"]),
    "a link that points elsewhere": (point_elsewhere, [b"link"]),
    "a directory made private": (lambda place: (place / "deep").chmod(0o700), []),
    "added": (lambda place: write(place, {"deep/er/c.txt": ""}), None),
    "removed": (lambda place: (place / "deep/er/b.txt").unlink(), None),
    "renamed": (lambda place: (place / "a.txt").rename(place / "z.txt"), None),
    "an empty directory": (lambda place: (place / "deep/new").mkdir(), None),
    "a link in place of a file": (put_a_link_there, None),
}


def test_nothing_has_moved_whatever_git_itself_does(place: Path) -> None:
    before = settled(place)
    write(place, {".git/HEAD": "ref: refs/heads/other\n"})

    assert listed(place).changed_since(before) == []


@pytest.mark.parametrize(("move", "moved"), MOVES.values(), ids=MOVES)
def test_whatever_moved_is_named_or_left_to_git(
    place: Path, move: Callable[[Path], object], moved: list[bytes] | None
) -> None:
    before = settled(place)
    move(place)

    assert listed(place).changed_since(before) == moved


def test_what_had_just_been_written_may_have_been_written_again(place: Path) -> None:
    settled(place)
    write(place, {"a.txt": "3\n"})
    before = listed(place)

    assert settled(place).changed_since(before) == [b"a.txt"]


def test_a_repository_inside_is_left_to_git(place: Path) -> None:
    write(place, {"deep/.git": "gitdir: elsewhere\n"})

    assert listing(os.fsencode(place)) is None


def test_many_files_are_left_to_git(place: Path) -> None:
    write(place, {f"many/{number}": "" for number in range(MOST_ENTRIES)})

    assert listing(os.fsencode(place)) is None


def test_a_directory_that_is_gone_is_left_to_git(tmp_path: Path) -> None:
    assert listing(os.fsencode(tmp_path / "gone")) is None
