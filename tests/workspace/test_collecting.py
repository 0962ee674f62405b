"""A gc of somebody else is noticed, waited for, and what it took is written once more."""

import os
import socket
import subprocess
from pathlib import Path

import anyio

from tests.workspace.helpers import git, write
from untilgreen.workspace.collecting import NOTE, Watch
from untilgreen.workspace.git import GitWorkspace


def started(*words: str) -> subprocess.Popen[bytes]:
    """A process that stands for a gc."""
    return subprocess.Popen(words)


async def test_no_gc_is_seen_where_there_is_none(repository: Path, workspace: GitWorkspace) -> None:
    watch = Watch(repository / ".git")
    write(repository, {"a.txt": "1\n"})
    await workspace.snapshot("0")

    assert not await watch.saw_one()


async def test_a_gc_that_came_and_went_is_seen(repository: Path) -> None:
    watch = Watch(repository / ".git")

    git(repository, "gc", "--quiet")

    assert await watch.saw_one()


async def test_a_gc_that_runs_is_waited_for(repository: Path) -> None:
    sleeper = started("sleep", "60")
    note = repository / ".git" / NOTE
    note.write_text(f"{sleeper.pid} {socket.gethostname()}")
    seen: list[bool] = []

    async def look() -> None:
        seen.append(await Watch(repository / ".git").saw_one())

    async with anyio.create_task_group() as group:
        group.start_soon(look)
        await anyio.sleep(0.3)
        assert not seen
        sleeper.kill()
        sleeper.wait()

    assert seen == [True]


async def test_the_note_of_a_gc_that_died_or_runs_elsewhere_holds_nobody_up(repository: Path) -> None:
    gone = started("true")
    gone.wait()
    for words in (f"{gone.pid} {socket.gethostname()}", f"{os.getpid()} elsewhere", "", "x y"):
        (repository / ".git" / NOTE).write_text(words)
        with anyio.fail_after(20):
            assert await Watch(repository / ".git").saw_one()


async def test_what_a_gc_took_from_a_snapshot_is_written_once_more(
    repository: Path, workspace: GitWorkspace
) -> None:
    """Files are gone from under the very name that was given to the tree, as after a gc beside it."""
    write(repository, {"a.txt": "once\n"})
    blob = git(repository, "hash-object", "a.txt").strip()
    tree = await workspace.snapshot("0")
    (repository / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    (repository / ".git" / NOTE).write_text("1 elsewhere")

    assert await workspace.snapshot("1") == tree

    assert git(repository, "cat-file", "-p", blob) == "once\n"
