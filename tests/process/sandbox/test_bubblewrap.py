"""The walls of a sandbox, each tested from inside with the real bubblewrap."""

import ctypes
import os
import shutil
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from tempfile import NamedTemporaryFile

import anyio
import psutil
import pytest
from msgspec.structs import replace

from untilgreen.errors import AgentUnavailable
from untilgreen.gates.command import CommandGate
from untilgreen.ports import CheckContext, Mount, Sandbox
from untilgreen.process import cgroup, disk_watch
from untilgreen.process.run import Ran, run
from untilgreen.process.sandbox import hidden_paths
from untilgreen.process.sandbox.bubblewrap import bwrap_command_line, find_bwrap, homes
from untilgreen.process.sandbox.probe import NESTED, how_to_enable, problem, require
from untilgreen.process.start import shell
from untilgreen.process.tree_note import end_left_behind

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(
        shutil.which("bwrap") is None, reason="bubblewrap is not installed: make test-sandbox"
    ),
]


@pytest.fixture(scope="module")
def shown_place() -> Iterator[Path]:
    """A directory that no sandbox hides; removed last, since sandboxes of other tests mask sockets in it."""
    place = Path("/opt", f"untilgreen-{os.getpid()}")
    place.mkdir()
    yield place
    shutil.rmtree(place)


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


def sandbox(work: Path, *mounts: Mount, network: bool = True, env: tuple[str, ...] = ()) -> Sandbox:
    return Sandbox(mounts=(Mount(path=work, way="write"), *mounts), network=network, env=env)


async def inside(script: str, work: Path, wall: Sandbox, **given: str) -> Ran:
    return await run(shell(script), cwd=work, sandbox=wall, merge=True, env=given, seconds=60)


@pytest.fixture
def planted() -> Iterator[list[Path]]:
    """Paths outside any workspace, removed afterwards in case a test does create one."""
    found = [Path("/etc/planted"), Path("/usr/planted")]
    yield found
    for path in found:
        path.unlink(missing_ok=True)


async def test_only_the_workspace_can_be_written(home: Path, work: Path, planted: list[Path]) -> None:
    script = f"touch here; touch {' '.join(map(str, planted))}; cat /etc/passwd"
    ran = await inside(script, work, sandbox(work))

    assert (work / "here").exists()
    assert "root:" in ran.stdout, "the rest of the disk must be readable"
    assert ran.stdout.count("Read-only file system") == 2


async def test_the_home_directory_is_empty_and_what_is_written_there_is_forgotten(
    home: Path, work: Path
) -> None:
    ran = await inside("ls -A ~; cat ~/.ssh/id; echo x > ~/planted && cat ~/planted", work, sandbox(work))

    assert "the key" not in ran.stdout
    assert "No such file or directory" in ran.stdout
    assert ran.stdout.endswith("x\n")
    assert not (home / "planted").exists()


async def test_the_home_directory_is_empty_wherever_it_is(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even if it is neither a temporary directory nor private to its user."""
    monkeypatch.setenv("HOME", "/usr/share")
    assert "doc" in names_in(Path("/usr/share"))

    ran = await inside("ls -A /usr/share", work, sandbox(work))

    assert "doc" not in ran.stdout.split()


def test_the_home_in_the_user_database_is_a_home_whatever_HOME_says(home: Path) -> None:
    import pwd

    assert homes() == [home.resolve(), Path(pwd.getpwuid(os.getuid()).pw_dir).resolve()]


async def test_a_changed_HOME_does_not_show_the_real_one(home: Path, work: Path) -> None:
    import pwd

    real = Path(pwd.getpwuid(os.getuid()).pw_dir)
    there = {name for name in names_in(real) if name.startswith(".bash") or name == ".ssh"}
    ran = await inside(f"ls -A {real}", work, sandbox(work))

    assert not there & set(ran.stdout.split())


async def test_toolchains_programs_on_the_path_and_the_settings_of_git_can_only_be_read(
    home: Path, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (".pyenv/a", ".nvm/b", ".cargo/bin/c", "tools/d", ".gitconfig", ".cargo/credentials"):
        (home / name).parent.mkdir(exist_ok=True, parents=True)
        (home / name).write_text(f"{name}\n")
    monkeypatch.setenv("PATH", f"{home}/tools:{os.environ['PATH']}")
    shown = "~/.pyenv/a ~/.nvm/b ~/.cargo/bin/c ~/tools/d ~/.gitconfig"
    ran = await inside(f"cat {shown}; ls ~/.cargo; (echo x > ~/.gitconfig) 2>&1", work, sandbox(work))

    assert ran.stdout.startswith(".pyenv/a\n.nvm/b\n.cargo/bin/c\ntools/d\n.gitconfig\nbin\n")
    assert "Read-only file system" in ran.stdout


async def test_temporary_files_and_sockets_of_services_are_out_of_reach(
    home: Path, work: Path, tmp_path: Path
) -> None:
    (tmp_path / "note").write_text("of another program\n")
    ran = await inside(
        f"ls {tmp_path}; ls -A /run; echo $TMPDIR; mktemp",
        work,
        sandbox(work),
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
    usual = ("LANG", "HTTPS_PROXY", "SSL_CERT_FILE", "JAVA_HOME")
    for name in ("AWS_SECRET_ACCESS_KEY", "SSH_AUTH_SOCK", "TEAM_ONE", "TEAM_TWO", *usual):
        monkeypatch.setenv(name, f"value of {name}")
    ran = await inside(
        "env", work, sandbox(work, env=("TEAM_*",)), GIVEN="by the gate", UNTILGREEN_INSIDE="run-1"
    )

    assert "AWS_SECRET" not in ran.stdout
    assert "SSH_AUTH_SOCK" not in ran.stdout
    for line in (
        "TEAM_ONE=value of TEAM_ONE",
        "TEAM_TWO=",
        "GIVEN=by the gate",
        "UNTILGREEN_INSIDE=run-1",
        "PATH=",
        f"HOME={home}",
        *(f"{name}=value of {name}" for name in usual),
    ):
        assert line in ran.stdout


async def test_a_secret_is_on_no_command_line(home: Path, work: Path) -> None:
    ran = await inside("tr '\\0' ' ' < /proc/1/cmdline", work, sandbox(work), MY_TOKEN="abcdefghijkl")

    assert "--cap-drop ALL" in ran.stdout
    assert "abcdefghijkl" not in ran.stdout


@pytest.fixture
def port() -> Iterator[int]:
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        yield server.getsockname()[1]


async def test_without_the_network_nothing_outside_can_be_reached(home: Path, work: Path, port: int) -> None:
    connect = f"{sys.executable} -c 'import socket; socket.create_connection((\"127.0.0.1\", {port}), 5)'"

    shut = await inside(connect, work, sandbox(work, network=False))
    open_ = await inside(connect, work, sandbox(work))

    assert "ConnectionRefusedError" in shut.stdout
    assert (open_.status, open_.stdout) == (0, "")


async def test_without_the_network_sockets_without_a_file_are_cut_off(home: Path, work: Path) -> None:
    name = f"untilgreen-{os.getpid()}"
    connect = f"import socket; socket.socket(socket.AF_UNIX).connect(chr(0) + '{name}'); print('reached')"
    with closing(socket.socket(socket.AF_UNIX)) as service:
        service.bind(f"\0{name}")
        service.listen()
        shut, open_ = [
            await inside(f'{sys.executable} -c "{connect}"', work, sandbox(work, network=network))
            for network in (False, True)
        ]

    assert "ConnectionRefusedError" in shut.stdout
    assert open_.stdout == "reached\n"


async def test_no_other_process_can_be_seen_and_no_privilege_is_left(home: Path, work: Path) -> None:
    script = "ls -d /proc/[0-9]* | wc -l; grep -E 'Cap(Eff|Bnd)|NoNewPrivs' /proc/self/status; umount /tmp"
    ran = await inside(script, work, sandbox(work))

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
        ran = await run([sys.executable, "-c", script], cwd=work, sandbox=sandbox(work), merge=True)
        assert libc.shmget(key, 0, 0) == segment
    finally:
        libc.shmctl(segment, remove, None)

    assert ran.stdout == "-1\n"


async def test_a_nested_namespace_takes_no_wall_down(home: Path, work: Path, planted: list[Path]) -> None:
    script = (
        f"unshare -Urm sh -c 'umount {home}; mount -o remount,rw /; cat {home}/.ssh/id; touch /etc/planted'"
    )
    ran = await inside(script, work, sandbox(work))

    assert "the key" not in ran.stdout
    assert not exists("/etc/planted")


async def test_what_is_fixed_inside_of_the_workspace_can_neither_be_changed_nor_moved(
    home: Path, work: Path
) -> None:
    hooks = work / ".git" / "hooks"
    hooks.mkdir(parents=True)
    fixed = sandbox(work, Mount(path=work / ".git", way="read"))
    await inside("touch .git/hooks/pre-commit; mv .git other; rm -rf .git; echo x > note", work, fixed)

    assert (work / "note").exists()
    assert sorted(names_in(work)) == [".git", "note"]
    assert hooks.is_dir()
    assert names_in(hooks) == []


async def test_the_exit_code_and_both_streams_come_out_and_input_goes_in(home: Path, work: Path) -> None:
    ran = await run(shell("cat; echo wrong >&2; exit 7"), cwd=work, sandbox=sandbox(work), stdin=b"given\n")

    assert (ran.status, ran.stdout, ran.stderr) == (7, "given\n", "wrong\n")


async def test_a_program_of_the_home_directory_can_be_started(home: Path, work: Path) -> None:
    program = home / "tools" / "fix"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho fixed\n")
    program.chmod(0o755)

    ran = await run([str(program)], cwd=work, sandbox=sandbox(work))

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

    ran = await run([str(tools / "fix")], cwd=work, sandbox=sandbox(work), merge=True)

    assert ran.stdout == "fixed\n"


async def test_nothing_is_left_of_what_runs_away(
    fence: bool, home: Path, work: Path, pids: Path, living: Callable[[], list[int]]
) -> None:
    """Process ids inside the namespace mean nothing outside, so its processes are counted by their mark."""
    mark = f"run-{os.getpid()}-{work.parent.name}"
    script = "setsid sleep 1000 & (setsid sh -c 'trap \"\" TERM INT; sleep 1000' &) ; sleep 0.2"
    ran = await run(
        shell(script), cwd=work, sandbox=sandbox(work), env={"RAN_AWAY": mark}, fence=fence, linger=0.1
    )

    assert ran.survivors == ()
    assert marked(mark) == []


async def test_an_end_by_force_leaves_nothing_either(fence: bool, home: Path, work: Path) -> None:
    mark = f"late-{os.getpid()}-{work.parent.name}"
    script = "trap '' INT TERM; setsid sleep 1000 & while :; do sleep 1; done"
    ran = await run(
        shell(script),
        cwd=work,
        sandbox=sandbox(work),
        env={"RAN_AWAY": mark},
        fence=fence,
        seconds=1,
        grace=0.3,
    )

    assert ran.late
    assert ran.survivors == ()
    assert marked(mark) == []


async def test_a_command_asked_to_end_has_time_for_last_words(fence: bool, home: Path, work: Path) -> None:
    script = "trap 'echo saved; exit 3' INT; echo ready; while :; do sleep 0.05; done"
    ran = await run(
        shell(script), cwd=work, sandbox=sandbox(work), fence=fence, seconds=2, grace=10, merge=True
    )

    assert ran.stdout == "ready\nsaved\n"
    assert ran.status == 3


async def test_it_ends_with_the_driver_and_a_later_one_finds_nothing(
    home: Path, work: Path, tmp_path: Path
) -> None:
    mark, note = f"orphan-{os.getpid()}-{work.parent.name}", tmp_path / "note"
    script = (
        "import anyio, sys; from pathlib import Path\n"
        "from untilgreen.ports import Mount, Sandbox; from untilgreen.process.run import run\n"
        "work, note, mark = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]\n"
        "sandbox = Sandbox(mounts=(Mount(path=work, way='write'),))\n"
        "line = 'touch began; setsid sleep 1000 & sleep 1000'\n"
        "async def go():\n"
        "    await run(['sh', '-c', line], cwd=work, sandbox=sandbox, note=note, env={'RAN_AWAY': mark})\n"
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
    while not happened():  # noqa: ASYNC110 - another process makes it happen
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
    assert await problem(NESTED) == ""


async def test_what_bubblewrap_can_not_do_is_reported_in_its_own_words(work: Path) -> None:
    broken = Sandbox(mounts=(Mount(path=Path("/usr/nowhere/else"), way="write", source=work),))

    assert "/usr/nowhere" in await problem(("true",), broken)
    with pytest.raises(AgentUnavailable, match=r"can't make a sandbox here: bwrap: .* To fix it: "):
        await require(broken, Path("/"))
    assert how_to_enable()


async def test_a_bubblewrap_in_the_workspace_is_ignored(
    home: Path, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A shell with an activated virtual environment has a directory of the workspace on PATH."""
    planted = work / ".venv" / "bin" / "bwrap"
    planted.parent.mkdir(parents=True)
    planted.write_text(f"#!/bin/sh\ntouch {work}/escaped\n")
    planted.chmod(0o755)
    (work.parent / "link").symlink_to(planted.parent)
    monkeypatch.setenv("PATH", f"{planted.parent}:{work.parent / 'link'}:{os.environ['PATH']}")

    ran = await inside("echo fine", work, sandbox(work))

    assert ran.stdout == "fine\n"
    assert not (work / "escaped").exists()


async def test_without_bubblewrap_nothing_is_started(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(work))

    with pytest.raises(
        AgentUnavailable, match=r"no program 'bwrap'. Install it with `apt install bubblewrap`"
    ):
        await inside("touch began", work, sandbox(work))
    with pytest.raises(AgentUnavailable, match="apt install bubblewrap"):
        bwrap_command_line(["true"], sandbox(work), work, {})
    assert not (work / "began").exists()


def test_where_there_is_no_linux_nothing_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")

    with pytest.raises(AgentUnavailable, match="works on Linux only"):
        find_bwrap(Sandbox())


@pytest.mark.skipif(os.getuid() != 0, reason="only root's own files are at stake")
async def test_a_driver_that_is_root_gives_no_settings_of_the_kernel_away(home: Path, work: Path) -> None:
    """In a root driver's user namespace, root's files can be written without any capability."""
    script = (
        "import os\n"
        "opened = []\n"
        "for top, _, files in os.walk('/proc'):\n"
        "    if top.split('/')[2:3] and top.split('/')[2].isdigit(): continue\n"
        "    for name in files:\n"
        "        path = os.path.join(top, name)\n"
        "        if os.path.islink(path): continue\n"
        "        try: os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK)); opened.append(path)\n"
        "        except OSError: pass\n"
        "print(len(opened), opened[:5])\n"
    )
    ran = await run([sys.executable, "-c", script], cwd=work, sandbox=sandbox(work), merge=True, seconds=60)

    assert ran.stdout == "0 []\n"


@pytest.mark.skipif(os.getuid() != 0, reason="only root's own files are at stake")
async def test_a_driver_that_is_root_shows_no_file_that_others_may_not_read(home: Path, work: Path) -> None:
    ran = await inside("cat /etc/shadow; wc -l < /etc/passwd", work, sandbox(work))

    assert int(ran.stdout.splitlines()[-1]) > 1
    assert "root:" not in ran.stdout


@pytest.mark.skipif(os.getuid() != 0, reason="only root's own files are at stake")
async def test_files_that_only_root_may_read_may_come_and_go_during_a_run(
    shown_place: Path, home: Path, work: Path
) -> None:
    secret = shown_place / "secret"
    read = f"cat {secret}; echo done"
    await inside("true", work, sandbox(work))
    secret.write_text("the key\n")
    secret.chmod(0o600)
    hidden = await inside(read, work, sandbox(work))
    secret.unlink()
    gone = await inside(read, work, sandbox(work))

    assert "the key" not in hidden.stdout
    assert hidden.stdout.endswith("done\n")
    assert gone.stdout.endswith("done\n")


def test_files_that_others_may_not_read_are_looked_for_to_a_depth(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    depths = {"/etc": 6, "/var": 3, "/opt": 2, "/srv": 2, "/media": 2, "/home": 1, "/mnt": 1}
    assert depths.items() <= hidden_paths._OF_ROOT.items()
    for folder in (tmp_path, tmp_path / "a", tmp_path / "a" / "b"):
        folder.mkdir(exist_ok=True)
        folder.chmod(0o755)
        (folder / "secret").touch(mode=0o600)
    monkeypatch.setattr(hidden_paths, "_OF_ROOT", {str(tmp_path): 2})

    found = dict(hidden_paths.private_to_root())
    assert found == {str(tmp_path / "secret"): False, str(tmp_path / "a" / "secret"): False}


async def test_a_folder_of_the_path_that_an_agent_replaced_by_a_link_is_not_followed(
    home: Path, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (work / ".venv" / "bin").mkdir(parents=True)
    monkeypatch.setenv("PATH", f"{work}/.venv/bin:{os.environ['PATH']}")
    await inside(f"mv .venv/bin .venv/old; ln -s {home}/.ssh .venv/bin", work, sandbox(work))

    ran = await inside(f"cat {home}/.ssh/id .venv/bin/id", work, sandbox(work))

    assert "the key" not in ran.stdout


async def test_a_program_in_the_workspace_that_became_a_link_is_not_followed(home: Path, work: Path) -> None:
    (work / "fix.sh").symlink_to(home / ".ssh" / "id")
    script = f"cat {home}/.ssh/id"

    seen = await run(["./fix.sh", "-c", script], cwd=work, sandbox=sandbox(work), merge=True, seconds=60)

    assert "No such file" in seen.stdout


@pytest.mark.parametrize("way", ["read", "write"])
async def test_a_mount_below_the_workspace_does_not_follow_a_link_of_the_agent(
    way: str, home: Path, work: Path
) -> None:
    """The link is from an earlier run without a sandbox, which could move the mount point's parent away."""
    (work / "a" / ".ssh").mkdir(parents=True)
    wall = sandbox(work, Mount(path=work / "a" / ".ssh", way="write" if way == "write" else "read"))
    (work / "a").rename(work / "b")
    (work / "a").symlink_to(home)

    with pytest.raises(AgentUnavailable, match=r"work/a' is a link in a directory that agents can write"):
        await inside("cat a/.ssh/id; echo planted > a/.ssh/id", work, wall)
    with pytest.raises(AgentUnavailable, match="is a link"):
        await inside("cat a/.ssh/id", work, wall.sealed())
    assert (home / ".ssh" / "id").read_text() == "the key\n"


def made(place: Path) -> Path:
    place.mkdir(parents=True)
    return place


@pytest.mark.skipif(os.getuid() != 0, reason="needs root, to create a directory that no sandbox hides")
@pytest.mark.parametrize("network", [True, False])
async def test_sockets_that_services_listen_at_can_not_be_reached(
    network: bool, shown_place: Path, home: Path, work: Path
) -> None:
    address = shown_place / f"s-{network}"
    with closing(socket.socket(socket.AF_UNIX)) as service:
        service.bind(str(address))
        service.listen()
        script = f"import socket; socket.socket(socket.AF_UNIX).connect('{address}'); print('reached')"
        ran = await run(
            [sys.executable, "-c", script],
            cwd=work,
            sandbox=sandbox(work, network=network),
            merge=True,
            seconds=60,
        )

    assert "reached" not in ran.stdout
    assert "Error" in ran.stdout


@pytest.mark.parametrize("network", [True, False])
async def test_sockets_in_places_that_can_be_written_are_not_masked(
    network: bool, home: Path, work: Path
) -> None:
    connect = "import socket; socket.socket(socket.AF_UNIX).connect('s'); print('reached')"
    with closing(socket.socket(socket.AF_UNIX)) as service:
        service.bind(str(work / "s"))
        service.listen()
        ran = await inside(f'{sys.executable} -c "{connect}"', work, sandbox(work, network=network))

    assert ran.stdout == "reached\n"


async def test_a_cgroup_limits_all_processes_together(
    home: Path, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []
    monkeypatch.setattr(cgroup, "make", lambda _, limits: asked.append(limits))
    await inside("true", work, replace(sandbox(work), memory=10**9, processes=100))

    assert asked == [{"memory.max": 10**9, "pids.max": 100}]


async def test_memory_has_a_limit_that_can_not_be_raised_inside(home: Path, work: Path) -> None:
    wall = replace(sandbox(work), memory=300_000_000)
    script = (
        "import resource\n"
        "try: resource.setrlimit(resource.RLIMIT_DATA, (resource.RLIM_INFINITY,) * 2)\n"
        "except ValueError: print('not raised')\n"
        "a = bytearray(50_000_000); print('some')\n"
        "b = bytearray(400_000_000); print('too much')\n"
    )
    ran = await run([sys.executable, "-c", script], cwd=work, sandbox=wall, merge=True, seconds=60)

    assert ran.stdout.startswith("not raised\nsome\n")
    assert "MemoryError" in ran.stdout or ran.status < 0
    assert "too much" not in ran.stdout


async def test_the_number_of_processes_has_a_limit(home: Path, work: Path) -> None:
    """The kernel doesn't limit root's processes, so an ordinary user starts this sandbox."""
    forks = "i=0; while test $i -lt 100; do sleep 60 & echo $i; i=$((i + 1)); done"
    words = bwrap_command_line(
        shell(forks), Sandbox(processes=40), Path("/"), {"PATH": "/usr/bin:/bin"}
    ).words
    if os.getuid() == 0:
        nobody = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
        plain = ("--unshare-user", "--unshare-pid", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc")
        words = [*nobody, words[0], *plain, *words[words.index("--") :]]
    ran = await run(words, cwd=Path("/"), seconds=60)

    assert not ran.ok
    assert "fork" in ran.stderr
    assert 0 < len(ran.stdout.splitlines()) < 40


async def test_what_is_kept_in_memory_has_a_size(home: Path, work: Path) -> None:
    """Only together do the files reach the limit; a single file has its own."""
    wall = replace(sandbox(work), disk=1_000_000)
    many = "for n in 1 2 3 4 5 6; do head -c 500000 /dev/zero > /tmp/part$n || echo full; done"
    ran = await inside(many, work, wall)

    assert "full" in ran.stdout


@pytest.mark.parametrize(("disk", "most"), [(None, 4_000_000_000), (1_000_000, 1_000_000)])
async def test_each_empty_directory_has_that_size(
    disk: int | None, most: int, home: Path, work: Path
) -> None:
    with NamedTemporaryFile(dir="/var/tmp") as file:
        os.fchmod(file.fileno(), 0o644)
        script = f"df -B1 --output=size /tmp /var/tmp /run | tail -n 3; ls {file.name}"
        ran = await inside(script, work, replace(sandbox(work), disk=disk))

    *sizes, gone = ran.stdout.splitlines()
    assert "No such file" in gone
    assert [int(size) // 4096 for size in sizes] == [-(-most // 4096)] * 3


@pytest.mark.parametrize("how", ["a directory", "a link"])
async def test_what_leads_to_a_mount_in_the_workspace_can_not_be_moved_away(
    how: str, home: Path, work: Path
) -> None:
    """Otherwise the read-only directory could be written by its new name, and replaced under the old one."""
    fixed = made(work / "tools" / "deep" / ".venv")
    (fixed / "python").write_text("ours")
    wall = sandbox(work, Mount(path=fixed, way="read"))
    instead = "mkdir -p tools/deep/.venv" if how == "a directory" else f"ln -s {home} tools"
    await inside(f"mv tools other; mv tools/deep tools/other; {instead}; echo more > tools/more", work, wall)

    again = await inside("for each in $(find . -name python); do echo planted > $each; done", work, wall)

    assert "Read-only file system" in again.stdout
    assert (fixed / "python").read_text() == "ours"
    assert (work / "tools" / "more").read_text() == "more\n"


async def test_a_link_that_comes_while_the_sandbox_is_made_is_not_followed(home: Path, work: Path) -> None:
    """A descriptor still refers to the original directory when its path leads elsewhere."""
    shown = made(work / "a" / "shown")
    (shown / "id").write_text("harmless")
    wall = sandbox(work, Mount(path=shown, way="read"))
    line = bwrap_command_line(["cat", f"{shown}/id"], wall, work, {"PATH": "/usr/bin:/bin"})
    assert len(line.descriptors) >= 1
    try:
        shown.rename(work / "away")
        shown.symlink_to(home / ".ssh")
        ran = await anyio.run_process(line.words, pass_fds=line.descriptors, check=False)
    finally:
        line.close()

    assert b"the key" not in ran.stdout + ran.stderr


async def test_no_descriptor_of_ours_is_open_in_the_sandbox_or_left_with_us(home: Path, work: Path) -> None:
    wall = sandbox(work, Mount(path=made(work / "a" / "b"), way="read"))
    before = len(names_in(Path("/proc/self/fd")))
    ran = await inside("ls /proc/self/fd | wc -l", work, wall)

    assert int(ran.stdout) <= 4
    assert len(names_in(Path("/proc/self/fd"))) == before


async def test_what_is_written_to_the_disk_has_a_limit(home: Path, work: Path) -> None:
    """The sizes of all new files add up; files that were there before don't count."""
    (work / "old").write_bytes(b"x" * 6_000_000)
    wall = replace(sandbox(work), disk=8_000_000)
    more = "i=0; while :; do i=$((i + 1)); head -c 1000000 /dev/urandom > $i; sync $i; sleep 0.05; done"
    ran = await inside(more, work, wall)

    assert ran.full
    assert not ran.ok
    assert ran.ending == "ended because it wrote more to the disk than sandbox.disk allows"
    some = await inside("for i in 1 2 3; do head -c 1000000 /dev/urandom > $i; sync $i; done", work, wall)
    assert (some.ok, some.full) == (True, False)


def test_files_are_counted_each_time_the_disk_has_grown_by_a_quarter_of_the_limit(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    used, counted = [0], list[int]()

    def count(*_: object) -> list[int]:
        counted.append(used[-1])
        return []

    monkeypatch.setattr(disk_watch, "_used", lambda _: {1: used[-1]})
    monkeypatch.setattr(disk_watch, "_changed", count)
    watch = disk_watch.DiskWatch(places=(work,), most=400)
    for now in (100, 101, 201, 202):
        used.append(now)
        assert not watch.too_much()

    assert counted == [101, 202]
    assert disk_watch.PAUSE_SECONDS == 1


async def test_no_single_file_can_be_larger_than_the_limit(home: Path, work: Path) -> None:
    wall = replace(sandbox(work), disk=1_000_000)
    ran = await inside("head -c 3000000 /dev/zero > much; ulimit -f unlimited || echo fixed", work, wall)

    assert (work / "much").stat().st_size == 1_000_000 // 512 * 512
    assert "fixed" in ran.stdout


async def test_a_gate_that_writes_too_much_is_an_error_that_says_so(home: Path, work: Path) -> None:
    forever = "i=0; while :; do i=$((i + 1)); head -c 1000000 /dev/urandom > $i; sync $i; done"
    wall = replace(sandbox(work), disk=3_000_000)

    verdict = await CommandGate(forever).check(CheckContext(root=work, sandbox=wall, seconds=60))

    assert verdict.status == "error"
    assert "wrote more to the disk than sandbox.disk allows. Raise the limit" in verdict.findings[0].message
