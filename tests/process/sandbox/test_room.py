"""A command in a room: what enters the room for it loads little, and it can hide many paths."""

import subprocess
from pathlib import Path

import pytest

from untilgreen.ports import Overlay, RoomView
from untilgreen.process.run import run
from untilgreen.process.sandbox.room import room_command
from untilgreen.process.sandbox.room_probe import rooms_work

pytestmark = pytest.mark.anyio


def room(place: Path, hidden: tuple[Path, ...] = ()) -> RoomView:
    at, upper, work, stash = (place / name for name in ("at", "room", "work", "stash"))
    for folder in (at, upper, work, stash):
        folder.mkdir()
    over = Overlay(path=at, upper=upper, work=work)
    return RoomView(place=upper, at=at, stash=stash, overlays=(over,), hidden=hidden)


def test_what_enters_a_room_loads_next_to_nothing(tmp_path: Path) -> None:
    python, *words = room_command(["true"], room(tmp_path), tmp_path)

    done = subprocess.run(
        [python, "-X", "importtime", *words], capture_output=True, text=True, check=False, cwd=tmp_path
    )

    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "ctypes" in loaded
    assert loaded.isdisjoint({"json", "shutil", "typing", "re", "enum", "pathlib"})


async def test_more_paths_are_hidden_than_one_argument_can_name(tmp_path: Path) -> None:
    if not await rooms_work(tmp_path / "scratch"):
        pytest.skip("this machine can't show a room in place of the workspace")
    names = [f"{'long' * 25}-{number}" for number in range(2_000)]
    view = room(tmp_path, tuple(tmp_path / "at" / name for name in (*names, "a, b: c", "folder")))
    for hidden in view.hidden[:-1]:
        hidden.touch()
    (view.hidden[-1] / "below").mkdir(parents=True)
    (view.at / "shown").touch()

    ran = await run(("ls", "."), cwd=view.place, view=view, fence=False)

    assert (ran.ok, ran.stdout, ran.stderr) == (True, "shown\n", "")
    assert len(list(view.at.iterdir())) == 2_003


async def test_nothing_outside_is_removed_to_hide_a_path_behind_a_link(tmp_path: Path) -> None:
    """The room has a link where the workspace has a directory: the path names a file of the user's."""
    if not await rooms_work(tmp_path / "scratch"):
        pytest.skip("this machine can't show a room in place of the workspace")
    theirs = tmp_path / "theirs"
    (theirs / "folder").mkdir(parents=True)
    (theirs / "kept.log").touch()
    view = room(tmp_path, tuple(tmp_path / "at" / "tests" / name for name in ("kept.log", "folder", "none")))
    (view.at / "tests").mkdir()
    (view.place / "tests").symlink_to(theirs)

    ran = await run(("ls", "tests/"), cwd=view.place, view=view, fence=False)

    assert (ran.ok, ran.stdout, ran.stderr) == (True, "folder\nkept.log\n", "")
    assert sorted(path.name for path in theirs.iterdir()) == ["folder", "kept.log"]
