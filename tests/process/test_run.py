"""Running one command: what goes in, what comes out, and every way it can end."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path

import anyio
import psutil
import pytest

from untilgreen.process import cgroup
from untilgreen.process.run import Ran, run
from untilgreen.process.start import CannotStart, shell
from untilgreen.process.subreaper import is_subreaper
from untilgreen.process.tree import new_mark

ESCAPING = Path(__file__).parents[1] / "fake_clis" / "escaping.py"
WAYS = ["background", "session", "daemon", "wiped", "deaf", "stopped"]
HANG_SECONDS = 60.0
Living = Callable[[], list[int]]

posix = pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell")
pytestmark = posix


@pytest.fixture
def stranger() -> Iterator[subprocess.Popen[bytes]]:
    """A child of this process that belongs to no run: in its own session, without our variables."""
    with subprocess.Popen(["/bin/sleep", "600"], start_new_session=True, env={"PATH": "/bin"}) as process:
        yield process
        process.kill()


def escaping(way: str, *more: str) -> list[str]:
    return [sys.executable, str(ESCAPING), way, *more]


def children() -> set[int]:
    """Our child processes, including zombies."""
    return {child.pid for child in psutil.Process().children()}


def open_handles() -> set[str]:
    return {path.name for path in Path("/proc/self/fd").iterdir()}


def existing(*paths: str | None) -> list[str]:
    return [path for path in paths if path and Path(path).exists()]


def real(path: Path) -> str:
    return str(path.resolve())


def listed(pids: Path) -> list[int]:
    return [int(pid) for pid in pids.read_text().split()]


async def test_exit_code_output_and_errors_are_told_apart(tmp_path: Path) -> None:
    ran = await run(shell("echo out; echo err >&2; exit 3"), cwd=tmp_path)

    assert (ran.status, ran.stdout, ran.stderr) == (3, "out\n", "err\n")
    assert (ran.ok, ran.ending, ran.stalled) == (False, "exit code 3", False)


async def test_merged_errors_keep_their_place_in_the_output(tmp_path: Path) -> None:
    ran = await run(shell("echo 1; echo 2 >&2; echo 3"), cwd=tmp_path, merge=True)

    assert (ran.ok, ran.stdout, ran.stderr) == (True, "1\n2\n3\n", "")


async def test_a_command_that_dies_of_a_signal_says_which(tmp_path: Path) -> None:
    ran = await run(shell("kill -9 $$"), cwd=tmp_path)

    assert (ran.status, ran.ending) == (-9, "ended by SIGKILL")
    assert Ran(status=-34).ending == "ended by SIGRTMIN"
    assert Ran(status=-99).ending == "ended by signal 99"


async def test_arguments_reach_the_program_as_they_are(tmp_path: Path) -> None:
    odd = ["", "a b", "$HOME", "'", '"', "*", "-n", "--", "\\", "ü\n\n"]

    ran = await run([sys.executable, "-c", "import sys; print(sys.argv[1:])", *odd], cwd=tmp_path)

    assert ran.stdout == f"{odd}\n"


async def test_input_arrives_whole_and_then_ends(tmp_path: Path) -> None:
    content = bytes(range(256)) * 20_000

    script = "import hashlib, sys; print(hashlib.sha256(sys.stdin.buffer.read()).hexdigest())"
    ran = await run([sys.executable, "-c", script], cwd=tmp_path, stdin=content)

    assert ran.stdout.strip() == sha256(content).hexdigest()


async def test_a_command_need_not_read_its_input(tmp_path: Path) -> None:
    with anyio.fail_after(HANG_SECONDS):
        ran = await run(shell("exec <&-; sleep 0.1; echo done"), cwd=tmp_path, stdin=b"x" * 5_000_000)

    assert (ran.status, ran.stdout) == (0, "done\n")


async def test_empty_input_is_a_pipe_that_ends_and_no_input_is_not_a_pipe(tmp_path: Path) -> None:
    """Tools that search a piped input if there is one would otherwise search an empty one."""
    empty = await run(shell("test -p /dev/stdin && wc -c"), cwd=tmp_path, stdin=b"")
    none = await run(shell("test -c /dev/stdin && wc -c"), cwd=tmp_path)

    assert [(ran.status, ran.stdout.strip()) for ran in (empty, none)] == [(0, "0"), (0, "0")]


async def test_variables_come_on_top_of_ours_and_the_child_knows_where_it_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OURS", "1")
    monkeypatch.setenv("BOTH", "1")
    for name in ("UNTILGREEN_TREE", "UNTILGREEN_INSIDE"):
        monkeypatch.delenv(name, raising=False)

    script = "echo $OURS $BOTH $NEW; pwd; echo $UNTILGREEN_INSIDE; env | grep -c UNTILGREEN_TREE"
    ran = await run(shell(script), cwd=tmp_path, env={"BOTH": "2", "NEW": "3"})
    named = await run(shell(script), cwd=tmp_path, env={"UNTILGREEN_INSIDE": "abc"})

    assert ran.stdout.splitlines() == ["1 2 3", real(tmp_path), "1", "1"]
    assert named.stdout.splitlines()[2] == "abc"


async def test_neither_stream_shows_a_secret_of_ours_or_one_that_the_command_was_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OUR_TOKEN", "hunter2-hunter2")
    script = shell('echo "$OUR_TOKEN $ITS_TOKEN"; echo "$OUR_TOKEN $ITS_TOKEN" >&2')
    ran = await run(script, cwd=tmp_path, env={"ITS_TOKEN": "swordfish-swordfish"})

    assert ran.stdout == ran.stderr == "[OUR_TOKEN redacted] [ITS_TOKEN redacted]\n"


async def test_a_missing_program_is_exit_code_127(tmp_path: Path) -> None:
    ran = await run(["/no/such/program"], cwd=tmp_path)

    assert ran.status == 127
    assert "/no/such/program" in ran.stderr


async def test_a_missing_directory_is_an_error_that_names_it(tmp_path: Path) -> None:
    handles = open_handles()

    with pytest.raises(CannotStart, match=r"can't be started in .*nowhere.*Check that the directory"):
        await run(shell("true"), cwd=tmp_path / "nowhere")

    assert open_handles() == handles


async def test_arguments_that_are_too_long_are_an_error_that_says_how_else(tmp_path: Path) -> None:
    with pytest.raises(CannotStart, match=r"4,000,004 bytes.*standard input"):
        await run(["echo", "x" * 4_000_000], cwd=tmp_path)


async def test_the_file_has_every_byte_and_listeners_get_text(tmp_path: Path) -> None:
    raw = b"\x1b[31mred\x1b[0m\r\n\xff\xfe half \xc3\n\n\xe2\x82\xac last"
    (tmp_path / "raw").write_bytes(raw)
    heard: list[str] = []

    ran = await run(shell("cat raw"), cwd=tmp_path, keep=tmp_path / "deep" / "kept", on_line=heard.append)

    assert (tmp_path / "deep" / "kept").read_bytes() == raw
    assert heard == ["\x1b[31mred\x1b[0m", "�� half �", "", "€ last"]
    assert ran.stdout == raw.decode(errors="replace")


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux how much a pipe holds")
async def test_only_a_command_that_prints_much_has_a_pipe_that_holds_much(tmp_path: Path) -> None:
    program = """
import fcntl, os, sys
left = int(sys.argv[1])
while left:
    left -= os.write(1, b"x" * left)
print("", fcntl.fcntl(1, fcntl.F_GETPIPE_SZ))
"""
    little, much = [
        await run([sys.executable, "-c", program, count], cwd=tmp_path) for count in ("1", "4000000")
    ]

    assert int(little.stdout.split()[-1]) < int(much.stdout.split()[-1]) == 1 << 18


async def test_lines_are_heard_while_the_command_runs(tmp_path: Path) -> None:
    """The command ends only once its line has reached the listener."""

    def answer(line: str) -> None:
        (tmp_path / line).touch()

    with anyio.fail_after(HANG_SECONDS):
        ran = await run(shell("echo go; until test -e go; do sleep 0.01; done"), cwd=tmp_path, on_line=answer)

    assert ran.ok


@pytest.mark.parametrize("way", WAYS)
async def test_nothing_outlives_a_command_that_ended(
    way: str, fence: bool, tmp_path: Path, pids: Path, living: Living
) -> None:
    before = children()
    with anyio.fail_after(HANG_SECONDS):
        ran = await run(escaping(way, "end"), cwd=tmp_path, env={"PIDS": str(pids)}, fence=fence, linger=0.2)

    command, helper = listed(pids)
    assert (ran.status, ran.stdout) == (0, "ready\n")
    assert ran.leftovers == (helper,)
    assert command != helper
    assert living() == []
    assert children() - before == set()


@pytest.mark.parametrize("way", WAYS)
async def test_nothing_outlives_a_cancelled_command(
    way: str, fence: bool, tmp_path: Path, pids: Path, living: Living
) -> None:
    before = children()
    alive: list[int] = []
    with anyio.fail_after(HANG_SECONDS), anyio.CancelScope() as scope:

        def on_line(line: str) -> None:
            alive.extend(living())
            scope.cancel()

        await run(
            escaping(way), cwd=tmp_path, env={"PIDS": str(pids)}, fence=fence, on_line=on_line, grace=0.3
        )

    assert scope.cancelled_caught
    assert len(alive) == 2
    assert living() == []
    assert children() - before == set()


HOPPING = """
import os, sys, time
hops, end = os.open(sys.argv[1], os.O_WRONLY | os.O_APPEND | os.O_CREAT), time.time() + 30
for chain in range(8):
    if not os.fork(): break
else:
    while os.fstat(hops).st_size < 160: time.sleep(0.01)
    os._exit(0)
os.setsid()
quiet = os.open(os.devnull, os.O_RDWR)
for handle in range(3): os.dup2(quiet, handle)
while time.time() < end:
    if os.fork(): os._exit(0)
    if sys.argv[2] == "True": os.setsid()
    os.write(hops, b".")
"""


async def test_a_process_that_forks_and_ends_all_the_time_is_ended(fence: bool, tmp_path: Path) -> None:
    """No process lives long enough to be seen; in a cgroup, each may even start its own session.

    There are eight at once, since one is seen by chance, now and then.
    """
    hops = tmp_path / "hops"
    with anyio.fail_after(HANG_SECONDS):
        await run([sys.executable, "-c", HOPPING, str(hops), str(fence)], cwd=tmp_path, fence=fence)

    before = hops.stat().st_size
    await anyio.sleep(0.5)
    assert before >= 160
    assert hops.stat().st_size == before


async def test_nothing_outlives_a_stalled_command(
    fence: bool, tmp_path: Path, pids: Path, living: Living
) -> None:
    with anyio.fail_after(HANG_SECONDS):
        ran = await run(escaping("daemon"), cwd=tmp_path, env={"PIDS": str(pids)}, fence=fence, silence=4.0)

    assert (ran.stalled, ran.ok, ran.stdout) == (True, False, "ready\n")
    assert len(listed(pids)) == 2
    assert living() == []


async def test_a_command_that_prints_something_sometimes_has_not_stalled(tmp_path: Path) -> None:
    ran = await run(shell("for i in 1 2 3 4 5 6 7; do sleep 0.5; echo $i >&2; done"), cwd=tmp_path, silence=3)

    assert (ran.stalled, ran.status, ran.stderr) == (False, 0, "1\n2\n3\n4\n5\n6\n7\n")
    assert ran.seconds > 3


async def test_a_pipe_held_by_a_leftover_does_not_hold_us(tmp_path: Path, pids: Path, living: Living) -> None:
    script = f"(trap '' HUP; echo $$ >> {pids}; while :; do echo still here; sleep 0.05; done) & echo done"

    with anyio.fail_after(HANG_SECONDS):
        ran = await run(shell(script), cwd=tmp_path, linger=2.0)

    assert "done\n" in ran.stdout
    assert "still here\n" in ran.stdout
    assert ran.status == 0
    assert len(ran.leftovers) >= 1
    assert living() == []


async def test_a_pipe_that_a_leftover_holds_is_not_waited_for(tmp_path: Path) -> None:
    await run(shell("(trap '' HUP; sleep 10; touch waited) & echo done"), cwd=tmp_path, linger=0.1)

    assert existing(str(tmp_path / "waited")) == []


async def test_a_command_whose_time_is_over_is_ended(tmp_path: Path) -> None:
    ran = await run(shell("echo begun; sleep 10; echo ended"), cwd=tmp_path, seconds=0.5, grace=0.1)

    assert (ran.late, ran.ok, ran.stdout) == (True, False, "begun\n")


async def test_a_command_that_is_silent_for_too_long_is_ended(tmp_path: Path) -> None:
    ran = await run(shell("echo begun; sleep 10; echo ended"), cwd=tmp_path, silence=0.5, grace=0.1)

    assert (ran.stalled, ran.ok, ran.stdout) == (True, False, "begun\n")


async def test_endless_output_can_be_cancelled(tmp_path: Path) -> None:
    with anyio.fail_after(HANG_SECONDS), anyio.move_on_after(0.5) as scope:
        await run(["yes"], cwd=tmp_path, keep=tmp_path / "kept")

    assert scope.cancelled_caught
    assert (tmp_path / "kept").read_bytes().startswith(b"y\ny\n")


async def test_the_end_is_asked_for_before_it_is_forced_and_the_last_words_are_kept(tmp_path: Path) -> None:
    script = "trap 'echo asked' INT; trap 'echo told; exit 4' TERM; echo ready; while :; do sleep 0.05; done"
    heard: list[str] = []
    with anyio.fail_after(HANG_SECONDS), anyio.CancelScope() as scope:

        def on_line(line: str) -> None:
            heard.append(line)
            scope.cancel()

        await run(shell(script), cwd=tmp_path, keep=tmp_path / "kept", on_line=on_line, grace=2.0)

    assert heard == ["ready", "asked", "told"]
    assert (tmp_path / "kept").read_text() == "ready\nasked\ntold\n"


async def test_a_command_that_is_stopped_hears_the_request_to_end(tmp_path: Path) -> None:
    command = shell("trap 'echo heard; exit 0' INT; kill -STOP $$; sleep 600")

    ran = await run(command, cwd=tmp_path, silence=2.0, grace=10.0)

    assert (ran.stdout, ran.stalled) == ("heard\n", True)


async def test_a_command_that_follows_the_first_request_is_not_asked_again(tmp_path: Path) -> None:
    script = "trap 'echo asked; exit 0' INT; trap 'echo told' TERM; while :; do sleep 0.05; done"

    with anyio.fail_after(HANG_SECONDS):
        ran = await run(shell(script), cwd=tmp_path, silence=2.0, grace=20.0)

    assert (ran.stalled, ran.status, ran.stdout) == (True, 0, "asked\n")


async def test_a_cancelled_command_that_closed_its_pipes_and_does_not_follow_is_ended(
    tmp_path: Path, pids: Path, living: Living
) -> None:
    """Only the process itself is left to wait for, and the task that waits is being cancelled."""
    script = f"trap '' INT; echo $$ > {pids}; echo ready; exec >&- 2>&-; while :; do sleep 0.05; done"
    with anyio.fail_after(HANG_SECONDS), anyio.CancelScope() as scope:
        await run(shell(script), cwd=tmp_path, on_line=lambda line: scope.cancel(), grace=0.3)

    assert len(listed(pids)) == 1
    assert living() == []


async def test_an_error_of_a_listener_ends_the_tree_and_comes_out_as_it_is(
    fence: bool, tmp_path: Path, pids: Path, living: Living
) -> None:
    def on_line(line: str) -> None:
        raise LookupError(line)

    with pytest.raises(LookupError, match="ready"):
        await run(escaping("session"), cwd=tmp_path, env={"PIDS": str(pids)}, fence=fence, on_line=on_line)

    assert len(listed(pids)) == 2
    assert living() == []


async def test_a_run_that_is_cancelled_before_it_began_starts_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ten times: a command that was started could be killed before it writes its file."""
    handles, before, mark, home = open_handles(), children(), new_mark(), cgroup.home()
    monkeypatch.setattr("untilgreen.process.start.new_mark", lambda: mark)
    for _ in range(10):
        with anyio.CancelScope() as scope:
            scope.cancel()
            await run(shell(": > began"), cwd=tmp_path, note=tmp_path / "note")

        assert scope.cancelled_caught

    fence = str(home / f"{cgroup.PREFIX}{mark}") if home else None
    assert existing(str(tmp_path / "began"), str(tmp_path / "note"), fence) == []
    assert (open_handles(), children()) == (handles, before)


async def test_what_moved_to_another_cgroup_is_ended_while_other_commands_run(
    fence: bool, tmp_path: Path, pids: Path, living: Living
) -> None:
    """Its own cgroup is then empty; only our new child shows that a process is left."""
    home = cgroup.home()
    if not fence or home is None or not os.access(home / "cgroup.procs", os.W_OK):
        pytest.skip("needs a cgroup that a process may move to")
    moved = f"echo $$ > {home}/cgroup.procs; echo $$ >> {pids}; exec sleep 600"
    script = (
        f"setsid sh -c '{moved}' > /dev/null 2>&1 < /dev/null & until test -s {pids}; do sleep 0.01; done"
    )

    async with anyio.create_task_group() as group:
        group.start_soon(lambda: run(shell("until test -e over; do sleep 0.05; done"), cwd=tmp_path))
        with anyio.fail_after(HANG_SECONDS):
            ran = await run(shell(script), cwd=tmp_path, linger=0.1)
            await run(shell("touch over"), cwd=tmp_path)

    assert ran.leftovers == tuple(listed(pids))
    assert living() == []


async def test_processes_that_are_not_ours_are_left_alone(
    fence: bool, tmp_path: Path, pids: Path, stranger: subprocess.Popen[bytes]
) -> None:
    async def neighbor() -> None:
        script = "echo up; until test -e over; do sleep 0.05; done; echo still up"
        ran = await run(shell(script), cwd=tmp_path, fence=fence)
        assert ran.stdout == "up\nstill up\n"
        assert ran.ok

    async with anyio.create_task_group() as group:
        group.start_soon(neighbor)
        for way in ("session", "daemon"):
            await run(escaping(way, "end"), cwd=tmp_path, env={"PIDS": str(pids)}, fence=fence, linger=0.1)
        await run(shell("touch over"), cwd=tmp_path, fence=fence)

    assert stranger.poll() is None
    assert psutil.Process(stranger.pid).status() != psutil.STATUS_ZOMBIE


async def test_a_process_without_variables_is_not_taken_from_a_tree_at_the_same_time(tmp_path: Path) -> None:
    """While two trees run, adoption can't show which of them a process belongs to."""
    heard: list[str] = []

    async def until(file: str, *before: str) -> None:
        script = f"echo up; until test -e {file}; do sleep 0.05; done; echo over"
        await run([*before, *shell(script)], cwd=tmp_path, fence=False, on_line=heard.append)

    with anyio.fail_after(HANG_SECONDS):
        async with anyio.create_task_group() as group:
            group.start_soon(until, "one")
            while heard != ["up"]:  # noqa: ASYNC110 - another process prints it
                await anyio.sleep(0.01)
            group.start_soon(until, "two", "/usr/bin/env", "-i")
            while heard != ["up"] * 2:  # noqa: ASYNC110 - the same
                await anyio.sleep(0.01)
            (tmp_path / "one").touch()
            while "over" not in heard:  # noqa: ASYNC110 - the same
                await anyio.sleep(0.01)
            await anyio.sleep(0.3)
            (tmp_path / "two").touch()

    assert heard == ["up", "up", "over", "over"]


@pytest.fixture
def ended() -> Iterator[subprocess.Popen[bytes]]:
    """A child of this process that has ended and is not yet reaped."""
    with subprocess.Popen(shell("exit 3"), start_new_session=True) as process:
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        yield process


async def test_the_exit_code_of_another_child_is_left_to_its_owner(
    tmp_path: Path, ended: subprocess.Popen[bytes]
) -> None:
    await run(shell("true"), cwd=tmp_path)

    assert ended.poll() == 3


async def test_a_run_leaves_no_trace_in_our_own_process(fence: bool, tmp_path: Path) -> None:
    await run(shell("true"), cwd=tmp_path, fence=fence)  # opens what is opened only once
    handles, before, adopted = open_handles(), children(), is_subreaper()

    note = tmp_path / "note"
    ran = await run(shell("cat note; setsid sleep 600 &"), cwd=tmp_path, note=note, fence=fence, linger=0.1)

    noted = json.loads(ran.stdout).get("cgroup")
    assert (noted is not None) == fence
    assert existing(str(note), noted) == []
    assert (open_handles(), children(), is_subreaper()) == (handles, before, adopted)


@pytest.mark.skipif(sys.platform != "linux", reason="reads the peak of memory from /proc")
@pytest.mark.parametrize(
    "content", ["b'x' * 100_000", "b'x' * 99_999 + b'\\n'", "(b'x' * 99 + b'\\n') * 1000"]
)
async def test_a_hundred_megabytes_of_output_cost_little_memory(content: str, tmp_path: Path) -> None:
    """A separate driver is measured, because this process has grown in other tests."""
    driver = r"""
import anyio, re, sys
from pathlib import Path
from untilgreen.process.run import run

def peak():
    return int(re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())[1]) / 1024

async def main():
    await run(["true"], cwd=Path("."), keep=Path("warm"), on_line=len)
    before = peak()
    writer = "import sys\nfor _ in range(1000): sys.stdout.buffer.write(eval(sys.argv[1]))"
    argv = [sys.executable, "-c", writer, sys.argv[1]]
    ran = await run(argv, cwd=Path("."), keep=Path("kept"), on_line=len)
    assert ran.ok, ran
    print(peak() - before)

anyio.run(main)
"""
    ran = await run([sys.executable, "-c", driver, content], cwd=tmp_path)

    assert ran.ok, ran.stderr
    assert 0 <= float(ran.stdout) < 64
    assert 64_000_000 <= (tmp_path / "kept").stat().st_size < 64_000_100


async def test_a_tree_inside_a_tree_ends_with_the_outer_one(
    fence: bool, tmp_path: Path, pids: Path, living: Living
) -> None:
    """The inner driver is killed without warning, so it never cleans up itself."""
    inner = f"""
import anyio, os, signal, sys
from pathlib import Path
from untilgreen.process.run import run

def die(line):
    os.kill(os.getpid(), signal.SIGKILL)

anyio.run(lambda: run({escaping("daemon")!r}, cwd=Path("."), on_line=die, fence={fence}))
"""
    ran = await run(
        [sys.executable, "-c", inner], cwd=tmp_path, env={"PIDS": str(pids)}, fence=fence, linger=0.2
    )

    assert ran.status == -signal.SIGKILL
    assert len(listed(pids)) == 2
    assert living() == []
