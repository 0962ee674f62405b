"""Killed at any moment, a driver leaves a usable repository, and the next one takes the right snapshot."""

import os
import random
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import anyio
import psutil
import pytest

from tests.workspace.helpers import commit, git, write
from untilgreen.workspace.git import GitWorkspace
from untilgreen.workspace.restoring import Intents

KILLS = 30
DRIVER = """
import sys
from pathlib import Path
import anyio
from untilgreen.workspace.git import GitWorkspace

async def main(place, private, first, second):
    workspace = GitWorkspace(Path(place), "r1", Path(private))
    print("ready", flush=True)
    for number in range(MOST):
        known = await workspace.snapshot("loop") if number else second
        await workspace.restore((first, second)[number % 2], known)
        Path(place, "touched.txt").write_text(f"{number}\\n" * 50)

anyio.run(main, *sys.argv[1:])
"""
LOOP = DRIVER.replace("MOST", "10_000")
ONCE = DRIVER.replace("MOST", "1")


def tree_on_disk(repository: Path, tmp_path: Path) -> str:
    """What git itself makes of the files, from an index that knows nothing."""
    index = tmp_path / "fresh-index"
    index.unlink(missing_ok=True)
    git(repository, "add", "-A", env={"GIT_INDEX_FILE": str(index)})
    return git(repository, "write-tree", env={"GIT_INDEX_FILE": str(index)}).strip()


def kill(process: subprocess.Popen[bytes], *, with_children: bool) -> None:
    """The driver alone, so that its git lives on for a moment, or all at once."""
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
        assert process.poll() is None, "the loop ended by itself"
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
async def test_a_restore_that_was_killed_is_no_work_of_somebody(
    repository: Path, private: Path, tmp_path: Path
) -> None:
    """The same restore again, with the same `known`, leaves nothing out."""
    write(repository, {f"{number}.txt": f"old {number}\n" * 200 for number in range(150)})
    first = await GitWorkspace(repository, "r1", private).snapshot("first")
    for number in range(10):
        write(repository, {f"{number}.txt": "new\n" for number in range(150)})
        second = await GitWorkspace(repository, "r1", private).snapshot("second")
        process = started(ONCE, repository, private, first, second)
        while process.poll() is None and Intents(private).read() is None:  # noqa: ASYNC110 - it is in another process
            await anyio.sleep(0.0005)
        await anyio.sleep(random.uniform(0, 0.015))
        kill(process, with_children=number % 4 > 0)

        done = await GitWorkspace(repository, "r1", private).restore(first, second)
        assert done.kept == ()
        assert tree_on_disk(repository, tmp_path) == first
