"""The walls around a process, each tried from inside with the real bubblewrap."""

import ctypes
import os
import shutil
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import anyio
import psutil
import pytest

from untilgreen.errors import AgentUnavailable
from untilgreen.ports import Mount, Walls
from untilgreen.process.note import end_left_behind
from untilgreen.process.ready import NESTED, mend, require, trouble
from untilgreen.process.run import Ran, run
from untilgreen.process.sandbox import enclosed
from untilgreen.process.start import shell

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(
        shutil.which("bwrap") is None, reason="bubblewrap is not installed: make test-sandbox"
    ),
]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    (home / ".ssh").mkdir(parents=True)
    (home / ".ssh" / "id").write_text("the key\n")
    monkeypatch.setenv("HOME", str(home))
    return home


@pytest.fixture
def work(tmp_path: Path) -> Path:
    work = tmp_path / "work"
    work.mkdir()
    return work


def names_in(place: Path) -> list[str]:
    return [each.name for each in place.iterdir()] if place.is_dir() else []


def exists(path: str | Path) -> bool:
    return Path(path).exists()


def walls(work: Path, *mounts: Mount, network: bool = True, env: tuple[str, ...] = ()) -> Walls:
    return Walls(mounts=(Mount(path=work, way="write"), *mounts), network=network, env=env)


async def inside(script: str, work: Path, wall: Walls, **given: str) -> Ran:
    return await run(shell(script), cwd=work, walls=wall, merge=True, env=given, seconds=60)


@pytest.fixture
def planted() -> Iterator[list[Path]]:
    """Files outside of any workspace; should one be made after all, it does not stay."""
    found = [Path("/etc/planted"), Path("/usr/planted")]
    yield found
    for path in found:
        path.unlink(missing_ok=True)


async def test_only_the_workspace_can_be_written(home: Path, work: Path, planted: list[Path]) -> None:
    ran = await inside(f"touch here; touch {' '.join(map(str, planted))}", work, walls(work))

    assert (work / "here").exists()
    assert ran.stdout.count("Read-only file system") == 2


async def test_the_home_directory_is_empty_and_what_is_written_there_is_forgotten(
    home: Path, work: Path
) -> None:
    ran = await inside("ls -A ~; cat ~/.ssh/id; echo x > ~/planted && cat ~/planted", work, walls(work))

    assert "the key" not in ran.stdout
    assert "No such file or directory" in ran.stdout
    assert ran.stdout.endswith("x\n")
    assert not (home / "planted").exists()


async def test_a_changed_HOME_does_not_show_the_real_one(home: Path, work: Path) -> None:
    import pwd

    real = Path(pwd.getpwuid(os.getuid()).pw_dir)
    there = {name for name in names_in(real) if name.startswith(".bash") or name == ".ssh"}
    ran = await inside(f"ls -A {real}", work, walls(work))

    assert not there & set(ran.stdout.split())


async def test_temporary_files_and_sockets_of_services_are_out_of_reach(
    home: Path, work: Path, tmp_path: Path
) -> None:
    (tmp_path / "note").write_text("of another program\n")
    ran = await inside(
        f"ls {tmp_path}; ls -A /run; echo $TMPDIR; mktemp",
        work,
        walls(work),
    )

    assert "note" not in ran.stdout.split()
    shown = {"systemd", "resolvconf", "NetworkManager", "current-system", "wrappers", "booted-system"}
    services = set(names_in(Path("/run"))) - shown
    assert not services & set(ran.stdout.split())
    assert "/tmp\n" in ran.stdout
    made = ran.stdout.split()[-1]
    assert made.startswith("/tmp/")
    assert not exists(made)


async def test_variables_come_in_only_by_name(
    home: Path, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AWS_SECRET_ACCESS_KEY", "SSH_AUTH_SOCK", "TEAM_ONE", "TEAM_TWO"):
        monkeypatch.setenv(name, f"value of {name}")
    ran = await inside(
        "env", work, walls(work, env=("TEAM_*",)), GIVEN="by the gate", UNTILGREEN_INSIDE="run-1"
    )

    assert "AWS_SECRET" not in ran.stdout
    assert "SSH_AUTH_SOCK" not in ran.stdout
    for line in (
        "TEAM_ONE=value of TEAM_ONE",
        "TEAM_TWO=",
        "GIVEN=by the gate",
        "UNTILGREEN_INSIDE=run-1",
        "PATH=",
    ):
        assert line in ran.stdout


async def test_a_secret_is_on_no_command_line(home: Path, work: Path) -> None:
    ran = await inside("tr '\\0' ' ' < /proc/1/cmdline", work, walls(work), MY_TOKEN="abcdefghijkl")

    assert "--cap-drop ALL" in ran.stdout
    assert "abcdefghijkl" not in ran.stdout


@pytest.fixture
def port() -> Iterator[int]:
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        yield server.getsockname()[1]


async def test_without_the_network_nothing_outside_can_be_reached(home: Path, work: Path, port: int) -> None:
    connect = f"{sys.executable} -c 'import socket; socket.create_connection((\"127.0.0.1\", {port}), 5)'"

    shut = await inside(connect, work, walls(work, network=False))
    open_ = await inside(connect, work, walls(work))

    assert "ConnectionRefusedError" in shut.stdout
    assert (open_.status, open_.stdout) == (0, "")


async def test_no_other_process_can_be_seen_and_no_privilege_is_left(home: Path, work: Path) -> None:
    script = "ls -d /proc/[0-9]* | wc -l; grep -E 'Cap(Eff|Bnd)|NoNewPrivs' /proc/self/status; umount /tmp"
    ran = await inside(script, work, walls(work))

    assert int(ran.stdout.split()[0]) < 6
    assert "CapEff:\t0000000000000000\nCapBnd:\t0000000000000000\nNoNewPrivs:\t1\n" in ran.stdout
    assert ran.status != 0


async def test_memory_that_others_share_is_out_of_reach(home: Path, work: Path) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    key, private, remove = 0x75670000 | os.getpid() & 0xFFFF, 0o1600, 0
    segment = libc.shmget(key, 4096, private)
    assert segment >= 0
    try:
        script = f"import ctypes; print(ctypes.CDLL(None).shmget({key}, 0, 0))"
        ran = await run([sys.executable, "-c", script], cwd=work, walls=walls(work), merge=True)
        assert libc.shmget(key, 0, 0) == segment
    finally:
        libc.shmctl(segment, remove, None)

    assert ran.stdout == "-1\n"


async def test_a_namespace_of_ones_own_takes_no_wall_down(
    home: Path, work: Path, planted: list[Path]
) -> None:
    script = (
        f"unshare -Urm sh -c 'umount {home}; mount -o remount,rw /; cat {home}/.ssh/id; touch /etc/planted'"
    )
    ran = await inside(script, work, walls(work))

    assert "the key" not in ran.stdout
    assert not exists("/etc/planted")


async def test_what_is_fixed_inside_of_the_workspace_can_neither_be_changed_nor_moved(
    home: Path, work: Path
) -> None:
    hooks = work / ".git" / "hooks"
    hooks.mkdir(parents=True)
    fixed = walls(work, Mount(path=work / ".git", way="read"))
    await inside("touch .git/hooks/pre-commit; mv .git other; rm -rf .git; echo x > note", work, fixed)

    assert (work / "note").exists()
    assert sorted(names_in(work)) == [".git", "note"]
    assert hooks.is_dir()
    assert names_in(hooks) == []


async def test_the_exit_code_and_both_streams_come_out_and_input_goes_in(home: Path, work: Path) -> None:
    ran = await run(shell("cat; echo wrong >&2; exit 7"), cwd=work, walls=walls(work), stdin=b"given\n")

    assert (ran.status, ran.stdout, ran.stderr) == (7, "given\n", "wrong\n")


async def test_a_program_of_the_home_directory_can_be_started(home: Path, work: Path) -> None:
    program = home / "tools" / "fix"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho fixed\n")
    program.chmod(0o755)

    ran = await run([str(program)], cwd=work, walls=walls(work))

    assert ran.stdout == "fixed\n"


async def test_a_link_in_a_hidden_folder_of_programs_can_be_started_by_its_path(
    home: Path, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools, program = home / "tools" / "bin", home / "packages" / "fix" / "fix"
    for folder in (tools, program.parent):
        folder.mkdir(parents=True)
    program.write_text("#!/bin/sh\necho fixed\n")
    program.chmod(0o755)
    (tools / "fix").symlink_to(program)
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")

    ran = await run([str(tools / "fix")], cwd=work, walls=walls(work), merge=True)

    assert ran.stdout == "fixed\n"


async def test_nothing_is_left_of_what_runs_away(
    fence: bool, home: Path, work: Path, pids: Path, living: Callable[[], list[int]]
) -> None:
    """Numbers in a namespace of its own say nothing outside, so that its processes are counted by mark."""
    mark = f"run-{os.getpid()}-{work.parent.name}"
    script = "setsid sleep 1000 & (setsid sh -c 'trap \"\" TERM INT; sleep 1000' &) ; sleep 0.2"
    ran = await run(
        shell(script), cwd=work, walls=walls(work), env={"RAN_AWAY": mark}, fence=fence, linger=0.1
    )

    assert ran.survivors == ()
    assert marked(mark) == []


async def test_an_end_by_force_leaves_nothing_either(fence: bool, home: Path, work: Path) -> None:
    mark = f"late-{os.getpid()}-{work.parent.name}"
    script = "trap '' INT TERM; setsid sleep 1000 & while :; do sleep 1; done"
    ran = await run(
        shell(script), cwd=work, walls=walls(work), env={"RAN_AWAY": mark}, fence=fence, seconds=1, grace=0.3
    )

    assert ran.late
    assert ran.survivors == ()
    assert marked(mark) == []


async def test_who_is_asked_to_end_has_time_for_last_words(fence: bool, home: Path, work: Path) -> None:
    script = "trap 'echo saved; exit 3' INT; echo ready; while :; do sleep 0.05; done"
    ran = await run(shell(script), cwd=work, walls=walls(work), fence=fence, seconds=2, grace=10, merge=True)

    assert ran.stdout == "ready\nsaved\n"
    assert ran.status == 3


async def test_it_ends_with_the_driver_and_a_later_one_finds_nothing(
    home: Path, work: Path, tmp_path: Path
) -> None:
    mark, note = f"orphan-{os.getpid()}-{work.parent.name}", tmp_path / "note"
    script = (
        "import anyio, sys; from pathlib import Path\n"
        "from untilgreen.ports import Mount, Walls; from untilgreen.process.run import run\n"
        "work, note, mark = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]\n"
        "walls = Walls(mounts=(Mount(path=work, way='write'),))\n"
        "line = 'touch began; setsid sleep 1000 & sleep 1000'\n"
        "async def go():\n"
        "    await run(['sh', '-c', line], cwd=work, walls=walls, note=note, env={'RAN_AWAY': mark})\n"
        "anyio.run(go)\n"
    )
    driver = await anyio.open_process([sys.executable, "-c", script, str(work), str(note), mark])
    with anyio.fail_after(60):
        await until(lambda: exists(work / "began"))
        driver.send_signal(signal.SIGKILL)
        await driver.wait()
        await until(lambda: not marked(mark))

    assert await end_left_behind(note) == ()


async def until(happened: Callable[[], bool]) -> None:
    while not happened():  # noqa: ASYNC110 - another process tells nobody
        await anyio.sleep(0.02)


def marked(mark: str) -> list[int]:
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get("RAN_AWAY") == mark and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process.pid)
        except psutil.Error:
            continue
    return found


async def test_a_sandbox_works_inside_of_a_sandbox(home: Path, work: Path) -> None:
    assert await trouble(NESTED) == ""


async def test_what_bubblewrap_can_not_do_is_said_in_its_own_words(work: Path) -> None:
    broken = Walls(mounts=(Mount(path=Path("/usr/nowhere/else"), way="write", source=work),))

    assert "/usr/nowhere" in await trouble(("true",), broken)
    with pytest.raises(AgentUnavailable, match=r"can't make a sandbox here: bwrap: .* To mend it: "):
        await require(broken, Path("/"))
    assert mend()


async def test_a_bubblewrap_that_lies_in_the_workspace_is_none(
    home: Path, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A shell with an activated environment has a folder of the workspace on its PATH."""
    planted = work / ".venv" / "bin" / "bwrap"
    planted.parent.mkdir(parents=True)
    planted.write_text(f"#!/bin/sh\ntouch {work}/escaped\n")
    planted.chmod(0o755)
    (work.parent / "link").symlink_to(planted.parent)
    monkeypatch.setenv("PATH", f"{planted.parent}:{work.parent / 'link'}:{os.environ['PATH']}")

    ran = await inside("echo fine", work, walls(work))

    assert ran.stdout == "fine\n"
    assert not (work / "escaped").exists()


async def test_without_bubblewrap_nothing_is_started(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(work))

    with pytest.raises(
        AgentUnavailable, match=r"no program 'bwrap'. Install it with `apt install bubblewrap`"
    ):
        await inside("touch began", work, walls(work))
    with pytest.raises(AgentUnavailable, match="apt install bubblewrap"):
        enclosed(["true"], walls(work), work, {})
    assert not (work / "began").exists()
