"""Processes that a dead driver left behind are found and ended, and no others."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import anyio
import pytest
from msgspec.structs import replace

from untilgreen.process import cgroup
from untilgreen.process.run import run
from untilgreen.process.table import era, find
from untilgreen.process.tree import MARK, Trace, Tree, new_mark
from untilgreen.process.tree_note import end_left_behind, forget, read_notes, write_note

ESCAPING = Path(__file__).parents[1] / "fake_clis" / "escaping.py"
HANG_SECONDS = 60.0
Living = Callable[[], list[int]]

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")

DRIVER = """
import anyio, sys
from pathlib import Path
from untilgreen.process.run import run

anyio.run(lambda: run(
    sys.argv[3:], cwd=Path("."), note=Path(sys.argv[1]), fence=sys.argv[2] == "True",
    on_line=lambda line: print(line, flush=True),
))
"""


@pytest.fixture
def stranger() -> Iterator[subprocess.Popen[bytes]]:
    with session_of("sleep", "600") as process:
        yield process
        process.kill()


def session_of(*argv: str, mark: str = "") -> subprocess.Popen[bytes]:
    return subprocess.Popen(argv, env={**os.environ, MARK: mark}, start_new_session=True)


def listed(pids: Path) -> list[int]:
    return [int(pid) for pid in pids.read_text().split()]


def wait_until(condition: Callable[[], bool]) -> None:
    while not condition():
        time.sleep(0.01)


def trace_of(pid: int) -> Trace:
    seen = find(pid)
    assert seen is not None
    return Trace(mark=new_mark(), pid=pid, start=seen.start, group=pid, era=era())


def exists(path: Path) -> bool:
    return path.exists()


async def left_behind(argv: list[str], *, fence: bool, note: Path, pids: Path) -> None:
    """Run a command with a driver that is killed without warning while it runs."""
    driver = [sys.executable, "-c", DRIVER, str(note), str(fence), *argv]
    async with await anyio.open_process(driver, env={**os.environ, "PIDS": str(pids)}) as process:
        assert process.stdout is not None
        assert await process.stdout.receive(5) == b"ready"
        process.kill()


@pytest.mark.parametrize("way", ["background", "session", "daemon", "deaf", "stopped"])
async def test_what_a_killed_driver_left_is_ended(
    way: str, fence: bool, tmp_path: Path, pids: Path, living: Living
) -> None:
    note = tmp_path / "note"
    await left_behind([sys.executable, str(ESCAPING), way], fence=fence, note=note, pids=pids)
    alive = living()
    assert len(alive) == 2

    with anyio.fail_after(HANG_SECONDS):
        ended = await end_left_behind(note, grace=0.3)

    assert set(alive) <= set(ended)
    assert living() == []
    assert not exists(note)
    assert await end_left_behind(note) == ()


async def test_orphans_are_ended_when_the_command_itself_is_gone(
    fence: bool, tmp_path: Path, pids: Path, living: Living
) -> None:
    """An agent dies of its broken pipe; the processes it started don't."""
    note = tmp_path / "note"
    await left_behind([sys.executable, str(ESCAPING), "daemon"], fence=fence, note=note, pids=pids)
    command, helper = listed(pids)
    os.kill(command, signal.SIGKILL)
    wait_until(lambda: command not in living())

    ended = await end_left_behind(note, grace=0.3)

    assert ended == (helper,)
    assert living() == []


async def test_a_cgroup_finds_even_a_daemon_without_a_past(
    fence: bool, tmp_path: Path, pids: Path, living: Living
) -> None:
    if not fence:
        pytest.skip("without a cgroup nothing ties it to the dead driver")
    note = tmp_path / "note"
    await left_behind([sys.executable, str(ESCAPING), "wiped"], fence=fence, note=note, pids=pids)
    (trace,) = read_notes(note)

    await end_left_behind(note, grace=0.3)

    assert living() == []
    assert trace.cgroup is not None
    assert not exists(Path(trace.cgroup))


async def test_another_process_with_the_noted_number_is_left_alone(
    tmp_path: Path, stranger: subprocess.Popen[bytes]
) -> None:
    trace = trace_of(stranger.pid)
    write_note(tmp_path / "note", replace(trace, start=trace.start - 100))

    assert await end_left_behind(tmp_path / "note", grace=0) == ()
    assert stranger.poll() is None

    write_note(tmp_path / "note", trace)  # with the right start, the same note is believed
    assert await end_left_behind(tmp_path / "note", grace=0) == (stranger.pid,)


async def test_a_session_whose_number_was_given_out_again_is_left_alone(
    tmp_path: Path, pids: Path, living: Living
) -> None:
    """Its leader is gone, and the remaining process has its own variables, but not our mark."""
    script = f"sleep 600 & echo $! > {pids}"
    with session_of("/bin/sh", "-c", script) as leader:
        trace = trace_of(leader.pid)
    write_note(tmp_path / "note", trace)

    assert await end_left_behind(tmp_path / "note", grace=0) == ()
    assert len(living()) == 1
    assert [seen.pid for seen in Tree(trace=trace).members()] == living()  # a driver that watched it knows


async def test_a_process_of_the_session_that_lost_its_variables_is_ended(
    tmp_path: Path, pids: Path, living: Living
) -> None:
    script = f"env -i sleep 600 & echo $! > {pids}; sleep 0.2"
    with session_of("/bin/sh", "-c", script) as leader:
        write_note(tmp_path / "note", trace_of(leader.pid))
    alive = living()

    assert await end_left_behind(tmp_path / "note", grace=0) == tuple(alive)
    assert len(alive) == 1
    assert living() == []


@pytest.mark.parametrize("marks", ["{mark}", "outer:{mark}", "{mark}:inner"])
async def test_the_mark_names_all_trees_that_a_process_is_in(
    marks: str, tmp_path: Path, stranger: subprocess.Popen[bytes]
) -> None:
    trace = replace(trace_of(os.getpid()), pid=2**22 + 1, start=0.0)
    write_note(tmp_path / "note", trace)
    with (
        session_of("sleep", "600", mark=marks.format(mark=trace.mark)) as ours,
        session_of("sleep", "600", mark=f"{trace.mark}0") as other,
    ):
        assert await end_left_behind(tmp_path / "note", grace=0) == (ours.pid,)
        assert (other.poll(), stranger.poll()) == (None, None)
        other.kill()


async def test_a_note_from_another_boot_or_machine_means_nothing_here(
    tmp_path: Path, stranger: subprocess.Popen[bytes]
) -> None:
    write_note(tmp_path / "note", replace(trace_of(stranger.pid), era="another boot"))

    assert await end_left_behind(tmp_path / "note") == ()
    assert stranger.poll() is None
    assert exists(tmp_path / "note")


async def test_a_cgroup_that_is_not_of_this_tree_is_not_believed(
    tmp_path: Path, stranger: subprocess.Popen[bytes]
) -> None:
    held = cgroup.make(new_mark())
    if held is None:
        pytest.skip("needs a writable cgroup")
    assert cgroup.join(held, stranger.pid)
    lie = replace(trace_of(stranger.pid), pid=2**22 + 1, cgroup=str(held))
    write_note(tmp_path / "note", lie)

    assert await end_left_behind(tmp_path / "note", grace=0) == ()
    assert stranger.poll() is None

    cgroup.kill(held)
    stranger.wait()
    cgroup.remove(held)


@pytest.mark.parametrize("content", [b"", b"{", b'{"pid": 1}', b"\xff\x00"])
async def test_a_damaged_note_ends_nothing(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "note").write_bytes(content)

    assert await end_left_behind(tmp_path / "note") == ()


async def test_a_process_does_not_end_the_tree_that_it_is_part_of(fence: bool, tmp_path: Path) -> None:
    script = """
import anyio
from pathlib import Path
from untilgreen.errors import UserError
from untilgreen.process.tree_note import end_left_behind

try:
    anyio.run(end_left_behind, Path("note"))
except UserError as error:
    print(error)
"""
    ran = await run([sys.executable, "-c", script], cwd=tmp_path, note=tmp_path / "note", fence=fence)

    assert (ran.status, ran.stderr) == (0, "")
    assert "Run the command in another terminal." in ran.stdout


def test_notes_of_trees_that_run_side_by_side_share_a_private_file_that_goes_with_the_last(
    tmp_path: Path,
) -> None:
    path = tmp_path / "deep" / "note"
    one, other = (replace(trace_of(os.getpid()), mark=mark) for mark in ("one", "other"))

    write_note(path, one)
    write_note(path, other)
    assert read_notes(path) == [one, other]
    assert path.stat().st_mode & 0o777 == 0o600

    forget(path, "one")
    assert read_notes(path) == [other]

    forget(path, "other")
    assert list(path.parent.iterdir()) == []


def test_a_tree_of_which_something_survived_stays_noted_when_all_others_have_ended(tmp_path: Path) -> None:
    path = tmp_path / "note"
    stuck, last = (replace(trace_of(os.getpid()), mark=mark) for mark in ("stuck", "last"))
    write_note(path, stuck)
    write_note(path, last)

    forget(path, "stuck", survived=True)
    forget(path, "last")

    assert read_notes(path) == [stuck]


def test_a_note_behind_one_that_a_dying_driver_did_not_finish_is_read(tmp_path: Path) -> None:
    path, trace = tmp_path / "note", trace_of(os.getpid())
    path.write_bytes(b'\n{"mark": "never began", "pi')

    write_note(path, trace)
    assert read_notes(path) == [trace]

    forget(path, trace.mark)


async def test_a_tree_that_begins_after_all_others_were_ended_is_noted(
    tmp_path: Path, stranger: subprocess.Popen[bytes]
) -> None:
    """For example, a second Ctrl-C ends what runs, and a gate is then tried once more."""
    path, trace = tmp_path / "note", trace_of(stranger.pid)
    write_note(path, trace)
    assert await end_left_behind(path, grace=0) == (stranger.pid,)
    assert not exists(path)

    write_note(path, replace(trace, mark="later"))

    assert [each.mark for each in read_notes(path)] == ["later"]
    forget(path, "later")
