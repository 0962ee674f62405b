"""Directories for one command: removed after it, or by the next driver if this one died."""

import os
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from untilgreen.process.scratch_directory import private_directory, remove_left_behind

KILLED = """
import os, sys
from pathlib import Path
from untilgreen.process.scratch_directory import private_directory
with private_directory("turn", Path(sys.argv[1]) / "turn.json") as path:
    (path / "prompt.md").write_text("secret plans")
    os.kill(os.getpid(), 9)
"""


def test_it_is_ours_alone_and_gone_afterwards_with_its_note(tmp_path: Path) -> None:
    with private_directory("turn", tmp_path / "trees" / "turn.json") as path:
        (path / "prompt.md").write_text("x")
        mode = stat.S_IMODE(path.stat().st_mode)
        noted = [Path(os.fsdecode(note.read_bytes())) for note in (tmp_path / "trees").iterdir()]

    assert (mode, noted) == (0o700, [path])
    assert not path.exists()
    assert list((tmp_path / "trees").iterdir()) == []


def test_two_at_once_for_one_tree_are_two(tmp_path: Path) -> None:
    tree = tmp_path / "gate.json"
    with private_directory("judge", tree) as outer, private_directory("turn", tree, outside=outer) as inner:
        assert outer != inner
        assert len(list(tmp_path.iterdir())) == 2


def test_it_is_never_in_the_workspace() -> None:
    workspace = Path(tempfile.gettempdir())
    with private_directory("turn", None, outside=workspace) as path:
        assert not path.is_relative_to(workspace)


def test_what_a_killed_driver_left_is_removed(tmp_path: Path) -> None:
    place, notes = tmp_path / "place", tmp_path / "trees"
    place.mkdir()
    env = {**os.environ, "TMPDIR": str(place)}
    died = subprocess.run([sys.executable, "-c", KILLED, str(notes)], env=env, check=False)
    assert (died.returncode, len(list(place.iterdir()))) == (-9, 1)

    remove_left_behind(notes)

    assert (list(place.iterdir()), list(notes.iterdir())) == ([], [])


@pytest.mark.parametrize("cut", [0, 3])
def test_a_note_that_was_cut_off_or_changed_removes_nothing(tmp_path: Path, cut: int) -> None:
    precious = tmp_path / "precious"
    precious.mkdir()
    note = tmp_path / "turn-1.private"
    note.write_text(str(precious)[:cut] if cut else str(precious))

    remove_left_behind(tmp_path)

    assert precious.is_dir()
    assert not note.exists()
