"""Two runs never work in one directory at the same time."""

import subprocess
import sys
from pathlib import Path

import pytest

from untilgreen.errors import WorkspaceNotReady
from untilgreen.workspace.directory_lock import DirectoryLock

HOLD = """
import sys
from pathlib import Path
from untilgreen.workspace.directory_lock import DirectoryLock
DirectoryLock(Path(sys.argv[1]), "r1", Path(sys.argv[2])).acquire()
print("held", flush=True)
sys.stdin.read()
"""


def holder(directory: Path, state: Path) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(directory), str(state)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"held\n"
    return process


def test_a_second_run_is_refused_with_the_name_of_the_first(tmp_path: Path) -> None:
    with (
        DirectoryLock(tmp_path, "r1", tmp_path / "state"),
        pytest.raises(WorkspaceNotReady, match=r"Run r1 is working in .*`untilgreen stop r1`"),
    ):
        DirectoryLock(tmp_path, "r2", tmp_path / "state").acquire()


def test_a_directory_is_the_same_by_every_name(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    with (
        DirectoryLock(tmp_path / "real", "r1", tmp_path / "state"),
        pytest.raises(WorkspaceNotReady, match="r1"),
    ):
        DirectoryLock(tmp_path / "link" / ".." / "real", "r2", tmp_path / "state").acquire()


def test_other_directories_are_free(tmp_path: Path) -> None:
    with (
        DirectoryLock(tmp_path / "one", "r1", tmp_path / "state"),
        DirectoryLock(tmp_path / "two", "r2", tmp_path / "state") as second,
    ):
        second.release()
        second.release()


def test_a_claim_ends_when_it_is_released(tmp_path: Path) -> None:
    with DirectoryLock(tmp_path, "r1", tmp_path / "state"):
        pass
    with (
        DirectoryLock(tmp_path, "r2", tmp_path / "state"),
        pytest.raises(WorkspaceNotReady, match="Run r2 "),
    ):
        DirectoryLock(tmp_path, "r3", tmp_path / "state").acquire()


def test_a_claim_ends_with_its_process_however_that_ends(tmp_path: Path) -> None:
    process = holder(tmp_path, tmp_path / "state")
    with pytest.raises(WorkspaceNotReady, match="r1"):
        DirectoryLock(tmp_path, "r2", tmp_path / "state").acquire()
    process.kill()
    process.communicate()

    with DirectoryLock(tmp_path, "r2", tmp_path / "state"):
        pass


def test_a_child_that_outlives_the_run_does_not_keep_the_claim(tmp_path: Path) -> None:
    with DirectoryLock(tmp_path, "r1", tmp_path / "state"):
        child = subprocess.Popen(["cat"], stdin=subprocess.PIPE, close_fds=False)
    try:
        with DirectoryLock(tmp_path, "r2", tmp_path / "state"):
            pass
    finally:
        child.communicate()


def test_a_holder_that_has_not_written_its_name_yet_is_still_a_holder(tmp_path: Path) -> None:
    with DirectoryLock(tmp_path, "r1", tmp_path / "state"):
        (written,) = (tmp_path / "state" / "claims").iterdir()
        assert written.read_text() == "r1\n"
        written.write_text("")
        with pytest.raises(WorkspaceNotReady, match=r"Another run is working in .*untilgreen list"):
            DirectoryLock(tmp_path, "r2", tmp_path / "state").acquire()


@pytest.mark.skipif(sys.platform == "win32", reason="directories can't be locked there")
def test_a_run_with_another_state_directory_is_kept_out(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    with (
        DirectoryLock(work, "r1", tmp_path / "one"),
        pytest.raises(WorkspaceNotReady, match="with another state directory"),
    ):
        DirectoryLock(work, "r2", tmp_path / "two").acquire()
    with DirectoryLock(work, "r3", tmp_path / "two"):
        pass
