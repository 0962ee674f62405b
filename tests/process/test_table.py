"""Processes are told apart by id and start time, never by id alone."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from subprocess import PIPE

import pytest
from msgspec.structs import replace

from untilgreen.process.table import (
    Seen,
    Unsettled,
    ask_psutil,
    environment,
    era,
    find,
    look,
    send,
    send_to_group,
)

posix = pytest.mark.skipif(sys.platform == "win32", reason="signals and sessions are those of POSIX")
pytestmark = posix


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    env = {"PATH": os.environ["PATH"], "WHO": "me=you"}
    with subprocess.Popen(["cat"], start_new_session=True, env=env, stdin=PIPE, stdout=PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"x")
        process.stdin.flush()
        assert process.stdout.read(1) == b"x"
        yield process
        process.kill()


def seen(pid: int) -> Seen:
    found = find(pid)
    assert found is not None
    return found


def test_a_child_is_seen_with_its_parent_group_and_session(sleeper: subprocess.Popen[bytes]) -> None:
    pid = sleeper.pid

    child = look()[pid]

    assert (child.parent, child.group, child.session, child.alive) == (os.getpid(), pid, pid, True)
    assert child == seen(pid)


def test_psutil_tells_the_same_story(sleeper: subprocess.Popen[bytes]) -> None:
    theirs = {child.pid: child for child in ask_psutil()}

    for pid in (sleeper.pid, os.getpid()):
        assert replace(theirs[pid], start=0.0) == replace(seen(pid), start=0.0)
    assert theirs[sleeper.pid].start >= theirs[os.getpid()].start


def test_a_child_that_ended_and_was_not_waited_for_is_not_alive(sleeper: subprocess.Popen[bytes]) -> None:
    sleeper.kill()
    os.waitid(os.P_PID, sleeper.pid, os.WEXITED | os.WNOWAIT)

    assert not seen(sleeper.pid).alive
    sleeper.wait()
    assert find(sleeper.pid) is None


def test_a_name_with_brackets_and_spaces_does_not_confuse(tmp_path: Path) -> None:
    program = tmp_path / "a) R 1 (b"
    program.symlink_to("/bin/sleep")
    with subprocess.Popen([str(program), "600"]) as process:
        try:
            assert seen(process.pid).parent == os.getpid()
        finally:
            process.kill()


def test_the_variables_of_a_child_can_be_read(sleeper: subprocess.Popen[bytes]) -> None:
    variables = environment(sleeper.pid)

    assert variables is not None
    assert b"WHO=me=you" in variables.split(b"\0")
    assert environment(2**22 + 1) is None


def test_a_child_without_variables_is_not_one_that_can_not_be_read() -> None:
    with subprocess.Popen(
        ["/bin/sh", "-c", "echo up; read -r line"], env={}, stdin=PIPE, stdout=PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"up\n"

        assert environment(process.pid) == b""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows this moment")
def test_a_child_that_is_becoming_another_program_can_not_say_what_it_is() -> None:
    """It is seen with all of its variables or raises `Unsettled`; it never seems to have none."""
    looks: list[bytes | None] = []
    for _ in range(400):
        with subprocess.Popen(["sleep", "600"], env={"WHO": "me"}) as process:
            with suppress(Unsettled):
                looks.append(environment(process.pid))
            process.kill()

    assert set(looks) <= {b"WHO=me\0"}


def test_a_signal_reaches_the_process_that_was_meant(sleeper: subprocess.Popen[bytes]) -> None:
    send(seen(sleeper.pid), signal.SIGTERM)

    assert sleeper.wait(60) == -signal.SIGTERM


def test_a_signal_does_not_reach_another_process_with_the_same_number(
    sleeper: subprocess.Popen[bytes],
) -> None:
    now = seen(sleeper.pid)

    send(replace(now, start=now.start - 100), signal.SIGKILL)

    # Had the SIGKILL arrived, it would have ended the process first.
    send(now, signal.SIGTERM)
    assert sleeper.wait(60) == -signal.SIGTERM


def test_a_signal_to_a_process_that_is_gone_does_nothing(sleeper: subprocess.Popen[bytes]) -> None:
    now = seen(sleeper.pid)
    sleeper.kill()
    sleeper.wait()

    send(now, signal.SIGTERM)

    assert find(sleeper.pid) is None


def test_a_signal_to_a_group_reaches_all_of_it_and_never_our_own(sleeper: subprocess.Popen[bytes]) -> None:
    heard: list[int] = []
    before = signal.signal(signal.SIGURG, lambda number, frame: heard.append(number))
    try:
        send_to_group(seen(os.getpid()), signal.SIGURG)
        send_to_group(replace(seen(os.getpid()), group=0), signal.SIGURG)
    finally:
        signal.signal(signal.SIGURG, before)
    other = replace(seen(sleeper.pid), session=2**22 + 1)
    send_to_group(other, signal.SIGKILL)  # its group id has been reused
    send_to_group(seen(sleeper.pid), signal.SIGTERM)

    assert heard == []
    assert sleeper.wait(60) == -signal.SIGTERM


def test_the_era_is_the_same_for_all_of_this_boot() -> None:
    script = "from untilgreen.process.table import era; print(era())"

    other = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    assert other.stdout.strip() == era() != ""
