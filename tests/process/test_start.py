"""A child does nothing until it is let go, and never starts if its driver dies first."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import anyio
import pytest

from untilgreen.process.run import run
from untilgreen.process.start import Child, shell, start
from untilgreen.process.table import find
from untilgreen.process.tree import Trace
from untilgreen.process.tree_note import end_left_behind, read_notes

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell")


def exists(path: Path) -> bool:
    return path.exists()


def wait_for_the_end_of(trace: Trace) -> None:
    while (seen := find(trace.pid)) and seen.is_same(trace.start) and seen.alive:
        time.sleep(0.01)


def run_bare(line: str, given: bytes, cwd: Path) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(shell(line), input=given, cwd=cwd, capture_output=True, check=False)


async def waiting(tmp_path: Path, *, fence: bool) -> Child:
    return await start(
        shell("touch began"),
        cwd=tmp_path,
        env={},
        has_input=False,
        merge=True,
        note=tmp_path / "note",
        fence=fence,
    )


async def test_the_child_waits_fenced_and_noted_until_it_is_let_go(fence: bool, tmp_path: Path) -> None:
    child = await waiting(tmp_path, fence=fence)

    (trace,) = read_notes(tmp_path / "note")
    seen = find(child.process.pid)
    assert seen is not None
    assert (trace.pid, trace.start, trace.group) == (seen.pid, seen.start, seen.session)
    assert trace == child.tree.trace
    assert (child.tree.cgroup is not None) == fence
    assert [member.pid for member in child.tree.members()] == [seen.pid]
    assert not exists(tmp_path / "began")

    child.let_go()
    for handle in child.ours:
        os.close(handle)
    assert await child.process.wait() == 0
    assert exists(tmp_path / "began")
    await child.tree.kill()


async def test_a_child_whose_driver_dies_first_never_begins(fence: bool, tmp_path: Path) -> None:
    driver = f"""
import anyio, os, signal
from pathlib import Path
from untilgreen.process.start import shell, start

async def main():
    child = await start(shell("touch began"), cwd=Path("."), env={{}}, has_input=False, merge=True,
                        note=Path("note"), fence={fence})
    os.kill(os.getpid(), signal.SIGKILL)

anyio.run(main)
"""
    died = await anyio.run_process([sys.executable, "-c", driver], cwd=tmp_path, check=False)
    (trace,) = read_notes(tmp_path / "note")

    assert died.returncode == -signal.SIGKILL
    wait_for_the_end_of(trace)
    assert not exists(tmp_path / "began")
    assert await end_left_behind(tmp_path / "note") == ()
    assert trace.cgroup is None or not exists(Path(trace.cgroup))


async def test_a_note_that_can_not_be_written_keeps_the_child_from_beginning(tmp_path: Path) -> None:
    (tmp_path / "note").mkdir()

    with anyio.fail_after(60), pytest.raises(OSError, match="note"):
        await waiting(tmp_path, fence=True)

    assert not exists(tmp_path / "began")


async def test_a_child_that_was_killed_while_it_waited_is_not_an_error(tmp_path: Path) -> None:
    child = await waiting(tmp_path, fence=False)
    os.kill(child.process.pid, signal.SIGKILL)
    assert await child.process.wait() == -signal.SIGKILL

    child.let_go()

    for handle in child.ours:
        os.close(handle)
    assert not exists(tmp_path / "began")


@pytest.mark.parametrize("given", [None, b"input\n"])
async def test_a_line_of_shell_sees_nothing_of_the_wait(given: bytes | None, tmp_path: Path) -> None:
    """Its line numbers and its standard input don't change either."""
    seen = 'echo "$0 $# $? $LINENO ${IFS}${UNTILGREEN_TREE_GO-unset}"; cat; nothing-of-that-name'
    bare = run_bare(seen, given or b"", tmp_path)

    ran = await run(shell(seen), stdin=given, cwd=tmp_path)

    assert (ran.status, ran.stdout, ran.stderr) == (127, bare.stdout.decode(), bare.stderr.decode())


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
async def test_a_line_of_shell_is_run_by_the_shell_that_waited(tmp_path: Path) -> None:
    """Starting a second shell would cost as much as the first."""
    ran = await run(shell("cat /proc/$$/cmdline; :"), cwd=tmp_path)

    program, option, line = ran.stdout.rstrip("\0").split("\0")
    assert (program, option) == ("/bin/sh", "-c")
    assert line.startswith("IFS= read -r UNTILGREEN_TREE_GO ")
    assert line.endswith("; cat /proc/$$/cmdline; :")


async def test_a_line_that_is_not_valid_shell_fails_as_any_other_command(tmp_path: Path) -> None:
    ran = await run(shell("echo this; ) and"), cwd=tmp_path)

    assert (ran.status, ran.stdout) == (2, "")
    assert "yntax error" in ran.stderr
