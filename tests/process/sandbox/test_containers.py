"""Containers as a sandbox: the calls to the engine, recorded by a stand-in, and real containers."""

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import anyio
import pytest
from msgspec.structs import replace

from untilgreen.errors import AgentUnavailable
from untilgreen.ports import Mount, Sandbox
from untilgreen.process.run import run
from untilgreen.process.sandbox.probe import require
from untilgreen.process.start import shell
from untilgreen.process.tree_note import end_left_behind

pytestmark = pytest.mark.anyio
IMAGE = os.environ.get("UNTILGREEN_TEST_IMAGE", "localhost/untilgreen-test")
RECORDS = """#!{python}
import json, os, sys
with open({log!r}, "a") as file:
    file.write(json.dumps([sys.argv[1:], os.environ.get("MY_TOKEN", "")]) + "\\n")
if sys.argv[1] == "run":
    print("ran")
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    (home / ".ssh").mkdir(parents=True)
    (home / ".ssh" / "id").write_text("the key\n")
    monkeypatch.setenv("HOME", str(home))
    return home


@pytest.fixture
def work(tmp_path: Path) -> Path:
    (tmp_path / "work" / ".git").mkdir(parents=True)
    return tmp_path / "work"


def wall(work: Path, engine: str = "podman") -> Sandbox:
    mounts = (Mount(path=work, way="write"), Mount(path=work / ".git", way="read"))
    return Sandbox(mounts=mounts, engine=engine, image=IMAGE)


# Calls to an engine.


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put a stand-in for both engines on PATH; returns the file in which it records its calls."""
    log, programs = tmp_path / "asked", tmp_path / "programs"
    programs.mkdir()
    for engine in ("docker", "podman"):
        (programs / engine).write_text(RECORDS.format(python=sys.executable, log=str(log)))
        (programs / engine).chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    return log


def calls(asked: Path) -> list[tuple[str, str]]:
    """The command lines, and the value of MY_TOKEN that the engine could see."""
    lines = [json.loads(line) for line in asked.read_text().splitlines()]
    return [(shlex.join(words), token) for words, token in lines]


@pytest.mark.parametrize("engine", ["docker", "podman"])
async def test_a_container_gets_the_workspace_its_limits_and_nothing_else(
    engine: str, asked: Path, home: Path, work: Path
) -> None:
    tight = replace(wall(work, engine), network=False, memory=500_000_000, processes=100, disk=1_000_000)
    ran = await run(shell("make"), cwd=work, sandbox=tight, merge=True)

    (line, _), (removed, _) = calls(asked)
    assert ran.stdout == "ran\n"
    for words in (
        *("run --rm --interactive --pull never --name untilgreen-", "--read-only --cap-drop ALL"),
        *("--security-opt no-new-privileges", f"--user {os.getuid()}:{os.getgid()}", "--network none"),
        *("--memory 500000000", "--pids-limit 100", "--ulimit fsize=1000000:1000000"),
        *("--tmpfs /tmp:rw,exec,mode=1777,size=1000000", f"--tmpfs {home}:rw,exec"),
        f"--mount type=bind,source={work},target={work} ",
        f"--mount type=bind,source={work}/.git,target={work}/.git,readonly ",
        f"--workdir {work} --entrypoint sh {IMAGE} -c make",
    ):
        assert words in line
    assert line.count("--mount") == 2
    assert removed.startswith("rm --force untilgreen-")


async def test_variables_are_passed_by_name_and_no_value_is_on_a_command_line(
    asked: Path, home: Path, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "not this one")
    monkeypatch.setenv("TEAM_KEY", "abcdefghijkl")
    given = {"MY_TOKEN": "mnopqrstuvwx"}

    await run(shell("make"), cwd=work, sandbox=replace(wall(work), env=("TEAM_*",)), env=given)

    line, token = calls(asked)[0]
    assert "--env MY_TOKEN " in line
    assert "--env TEAM_KEY " in line
    assert token == "mnopqrstuvwx"
    assert not [word for word in ("AWS_SECRET", "abcdefghijkl", "mnopqrstuvwx", "--env PATH") if word in line]


async def test_without_the_engine_nothing_is_started(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(work))

    with pytest.raises(AgentUnavailable, match="needs docker, and there is no such program"):
        await run(shell("touch began"), cwd=work, sandbox=wall(work, "docker"))
    assert not (work / "began").exists()


async def test_a_link_that_an_agent_made_is_not_shown(asked: Path, home: Path, work: Path) -> None:
    (work / "a").symlink_to(home)
    deep = wall(work).opened(Mount(path=work / "a" / ".ssh", way="write"))

    with pytest.raises(AgentUnavailable, match="is a link in a directory that agents can write"):
        await run(shell("make"), cwd=work, sandbox=deep)


async def test_what_leads_to_a_mount_is_a_mount_that_can_not_be_moved(
    asked: Path, home: Path, work: Path
) -> None:
    (work / "a" / "b").mkdir(parents=True)
    await run(shell("make"), cwd=work, sandbox=wall(work).opened(Mount(path=work / "a" / "b", way="read")))

    line = calls(asked)[0][0]
    assert (
        f"source={work}/a,target={work}/a --mount type=bind,source={work}/a/b,target={work}/a/b,readonly"
        in line
    )


# With a real Podman.


@pytest.fixture
def plain_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings that work where limits can't be raised and cgroups are mixed, as in many containers."""
    runtime = 'runtime = "runc"\n' if shutil.which("runc") else ""
    limits = 'default_ulimits = ["nofile=1024:1024", "nproc=500:500"]'
    settings = tmp_path / "containers.conf"
    settings.write_text(f"[containers]\n{limits}\n[engine]\n{runtime}")
    monkeypatch.setenv("CONTAINERS_CONF", str(settings))


def has_image() -> bool:
    if shutil.which("podman") is None:
        return False
    found = subprocess.run(["podman", "image", "exists", IMAGE], capture_output=True, check=False)
    return found.returncode == 0


REAL = pytest.mark.skipif(
    not has_image(), reason=f"no Podman with an image {IMAGE}: import one, or set UNTILGREEN_TEST_IMAGE"
)


@REAL
@pytest.mark.usefixtures("plain_engine")
async def test_a_real_container_reads_and_writes_the_workspace_alone(home: Path, work: Path) -> None:
    script = (
        "cat given; echo made > made; touch .git/planted /usr/planted; "
        f"cat {home}/.ssh/id; ls -A {home}; echo x > {home}/mine && cat {home}/mine; exit 7"
    )
    (work / "given").write_text("given\n")
    ran = await run(shell(script), cwd=work, sandbox=wall(work), merge=True, seconds=120)

    assert ran.status == 7
    assert ran.stdout.startswith("given\n")
    assert ran.stdout.endswith("x\n")
    assert ran.stdout.count("Read-only file system") == 2
    assert "the key" not in ran.stdout
    assert (work / "made").read_text() == "made\n"
    assert not (home / "mine").exists()


@REAL
@pytest.mark.usefixtures("plain_engine")
async def test_a_real_container_is_gone_when_its_time_is_up(home: Path, work: Path) -> None:
    note = work.parent / "note"
    ran = await run(
        shell("trap '' INT TERM; touch began; sleep 1000"),
        cwd=work,
        sandbox=wall(work),
        seconds=15,
        grace=0.2,
        note=note,
    )

    assert ran.late
    assert (work / "began").exists()
    left = await anyio.run_process(["podman", "ps", "--all", "--format", "{{.Names}}"])
    assert b"untilgreen-" not in left.stdout
    assert await end_left_behind(note) == ()


@REAL
@pytest.mark.usefixtures("plain_engine")
async def test_a_run_in_real_containers_converges_and_is_verified(home: Path, work: Path) -> None:
    await anyio.run_process(["git", "init", "--quiet"], cwd=work)
    (work / "check.sh").write_text("grep -q mended notes.txt\n")
    env = {**os.environ, "UNTILGREEN_STATE_DIR": str(work.parent / "state")}
    root = f"sandbox.as_root={str(os.getuid() == 0).lower()}"
    sandbox = ("--sandbox", "podman", "--set", f"sandbox.image={IMAGE}", "--set", root)
    words = (sys.executable, "-m", "untilgreen")
    agent = f"cmd:sh -c 'cat {home}/.ssh/id > notes.txt; echo mended >> notes.txt'"
    flags = ("--agent", agent, "--gate", "sh check.sh", "--no-input")
    done = await anyio.run_process(
        [*words, "run", "Mend it.", *flags, *sandbox], cwd=work, env=env, check=False
    )
    again = await anyio.run_process([*words, "verify", "@last"], cwd=work, env=env, check=False)

    assert b"converged" in done.stderr + done.stdout
    assert (work / "notes.txt").read_text() == "mended\n"
    assert (done.returncode, again.returncode) == (0, 0)


@REAL
@pytest.mark.usefixtures("plain_engine")
async def test_an_image_that_is_not_there_is_named_with_what_to_do(work: Path) -> None:
    missing = replace(wall(work), image="localhost/none-such")

    with pytest.raises(AgentUnavailable, match=r"can't run the image 'localhost/none-such'.*podman pull"):
        await require(missing, work)
