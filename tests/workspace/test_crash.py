"""A driver killed at any moment leaves a usable repository, and the next one takes the right snapshot."""

import os
import random
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import anyio
import psutil
import pytest

from tests.workspace.helpers import commit, git, put_in_front_of_git, write
from untilgreen.workspace.git.git_lock import alone
from untilgreen.workspace.git_workspace import GitWorkspace
from untilgreen.workspace.restore import Intents

KILLS = 30
DRIVER = """
import sys
from pathlib import Path
import anyio
from untilgreen.workspace.git_workspace import GitWorkspace

async def main(place, private, first, second):
    workspace = GitWorkspace(Path(place), "r1", Path(private))
    print("ready", flush=True)
    for number in range(MOST):
        known = await workspace.snapshot("loop") if number else second
        await workspace.restore((first, second)[number % 2], known)
        TOUCH

anyio.run(main, *sys.argv[1:])
"""
TOUCH = 'Path(place, "touched.txt").write_text(f"{number}\\n" * 50)'
LOOP = DRIVER.replace("MOST", "10_000").replace("TOUCH", TOUCH)
ONCE = DRIVER.replace("MOST", "1").replace("TOUCH", "pass")
"""Changes nothing after its restore, which may be over before the kill."""


def tree_on_disk(repository: Path, tmp_path: Path) -> str:
    """The tree that git itself makes of the files, starting with an empty index."""
    index = tmp_path / "fresh-index"
    index.unlink(missing_ok=True)
    git(repository, "add", "-A", env={"GIT_INDEX_FILE": str(index)})
    return git(repository, "write-tree", env={"GIT_INDEX_FILE": str(index)}).strip()


def kill(process: subprocess.Popen[bytes], *, with_children: bool) -> None:
    """Kill the driver with its children, or alone, so that its git lives on for a moment."""
    with suppress(psutil.NoSuchProcess):
        driver = psutil.Process(process.pid)
        victims = [driver, *(driver.children(recursive=True) if with_children else ())]
        for victim in victims:
            with suppress(psutil.NoSuchProcess):
                victim.send_signal(signal.SIGKILL)
    process.communicate()


def started(program: str, *arguments: object) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(
        [sys.executable, "-c", program, *map(str, arguments)], stdout=subprocess.PIPE, env=os.environ
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    return process


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
async def test_a_driver_killed_at_any_moment_leaves_everything_usable(
    repository: Path, private: Path, tmp_path: Path
) -> None:
    write(repository, {f"src/{number}.txt": f"old {number}\n" * 40 for number in range(60)})
    commit(repository)
    head = git(repository, "rev-parse", "HEAD")
    workspace = GitWorkspace(repository, "r1", private)
    first = await workspace.snapshot("first")
    write(repository, {f"src/{number}.txt": "new\n" for number in range(30)})
    for number in range(30, 40):
        (repository / f"src/{number}.txt").unlink()
    write(repository, {f"more/{number}/in.txt": f"{number}\n" for number in range(20)})
    second = await workspace.snapshot("second")
    index = (repository / ".git" / "index").read_bytes()

    for number in range(KILLS):
        process = started(LOOP, repository, private, first, second)
        await anyio.sleep(random.uniform(0, 0.25))
        assert process.poll() is None, "the driver ended by itself"
        kill(process, with_children=number % 2 == 0)

        survivor = GitWorkspace(repository, "r1", private)
        now = await survivor.snapshot(f"after-{number}")
        assert now == tree_on_disk(repository, tmp_path)
        target = (first, second)[number % 2]
        done = await survivor.restore(target, now)
        assert (done.before, done.kept) == (now, ())
        assert tree_on_disk(repository, tmp_path) == target

    assert (repository / ".git" / "index").read_bytes() == index
    assert git(repository, "rev-parse", "HEAD") == head
    git(repository, "fsck", "--strict")


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
async def test_a_killed_restore_is_not_mistaken_for_the_work_of_a_person(
    repository: Path, private: Path, tmp_path: Path
) -> None:
    """The same restore again, with the same `known`, skips no file."""
    write(repository, {f"{number}.txt": f"old {number}\n" * 200 for number in range(150)})
    first = await GitWorkspace(repository, "r1", private).snapshot("first")
    caught = 0
    for number in range(10):
        write(repository, {f"{number}.txt": "new\n" for number in range(150)})
        second = await GitWorkspace(repository, "r1", private).snapshot("second")
        process = started(ONCE, repository, private, first, second)
        while process.poll() is None and Intents(private).read() is None:  # noqa: ASYNC110 - it is in another process
            await anyio.sleep(0.0005)
        await anyio.sleep(random.uniform(0, 0.015))
        kill(process, with_children=number % 4 > 0)
        caught += Intents(private).read() is not None

        done = await GitWorkspace(repository, "r1", private).restore(first, second)
        assert done.kept == ()
        assert tree_on_disk(repository, tmp_path) == first

    assert caught, "no kill hit the middle of a restore"


async def test_a_lock_that_a_killed_git_left_on_the_private_index_is_removed(
    repository: Path, private: Path
) -> None:
    write(repository, {"a.txt": "1\n"})
    await GitWorkspace(repository, "r1", private).snapshot("0")
    write(repository, {"a.txt": "2\n"})
    (private / "git" / "index.lock").touch()

    tree = await GitWorkspace(repository, "r1", private).snapshot("1")

    assert git(repository, "show", f"{tree}:a.txt") == "2\n"


@pytest.mark.skipif(sys.platform != "linux", reason="reads which files a process has open from /proc")
async def test_every_git_that_writes_holds_the_file_that_a_later_driver_waits_for(
    repository: Path, private: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "held"
    held = (
        "held = [os.path.realpath(f'/proc/self/fd/{each}') for each in os.listdir('/proc/self/fd')]\n"
        f"open({str(log)!r}, 'a').write(verb + ' ' + str({str(private / 'busy')!r} in held) + os.linesep)\n"
    )
    write(repository, {"a.txt": "1\n"})
    first = await GitWorkspace(repository, "r1", private).snapshot("0")
    write(repository, {"a.txt": "2\n"})
    put_in_front_of_git(tmp_path, monkeypatch, held)
    await GitWorkspace(repository, "r1", private).restore(first, None)

    seen = set(log.read_text().splitlines())
    assert {"update-index True", "write-tree True", "read-tree True"} <= seen
    assert not {"update-index False", "write-tree False", "read-tree False"} & seen


def outliving(descriptors: Sequence[int]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(["sleep", "600"], pass_fds=descriptors)


async def test_a_later_driver_waits_for_a_git_that_outlived_its_driver(tmp_path: Path) -> None:
    came: list[str] = []

    async def later() -> None:
        async with alone(tmp_path / "busy", tmp_path):
            came.append("later")

    async with alone(tmp_path / "busy", tmp_path) as descriptors:
        survivor = outliving(descriptors)
    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            group.start_soon(later)
            await anyio.sleep(0.2)
            came.append("survivor")
            survivor.kill()
            survivor.wait()

    assert came == ["survivor", "later"]
