"""Somebody else's gc is noticed and waited for, and what it removed is written again."""

import os
import shutil
import socket
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import anyio
import pytest

from tests.surfaces.cli.helpers import script
from tests.workspace.helpers import git, settle, write
from untilgreen.errors import WorkspaceNotReady
from untilgreen.workspace.file_stamps import FRESH_NANOSECONDS
from untilgreen.workspace.git.gc_guard import NOTE, GcWatch
from untilgreen.workspace.git.snapshot_refs import Refs
from untilgreen.workspace.git_workspace import GitWorkspace


def sleeping_git(folder: Path) -> str:
    """A program named git that only sleeps."""
    program = folder / "git"
    program.symlink_to(shutil.which("sleep") or "/bin/sleep")
    return str(program)


def started(*words: str) -> subprocess.Popen[bytes]:
    """A process that stands in for a gc."""
    return subprocess.Popen(words)


async def test_no_gc_is_seen_where_there_is_none(repository: Path, workspace: GitWorkspace) -> None:
    watch = GcWatch(repository / ".git")
    write(repository, {"a.txt": "1\n"})
    await workspace.snapshot("0")

    assert not await watch.wait_for_gc()


async def test_a_gc_that_came_and_went_is_seen(repository: Path) -> None:
    watch = GcWatch(repository / ".git")

    git(repository, "gc", "--quiet")

    assert await watch.wait_for_gc()


async def test_a_gc_that_runs_is_waited_for(repository: Path, tmp_path: Path) -> None:
    sleeper = started(sleeping_git(tmp_path), "60")
    note = repository / ".git" / NOTE
    note.write_text(f"{sleeper.pid} {socket.gethostname()}")
    seen: list[bool] = []

    async def look() -> None:
        seen.append(await GcWatch(repository / ".git").wait_for_gc())

    async with anyio.create_task_group() as group:
        group.start_soon(look)
        await anyio.sleep(0.3)
        assert not seen
        sleeper.kill()
        sleeper.wait()

    assert seen == [True]


async def test_a_long_wait_for_a_gc_is_reported(repository: Path, tmp_path: Path) -> None:
    sleeper = started(sleeping_git(tmp_path), "60")
    (repository / ".git" / NOTE).write_text(f"{sleeper.pid} {socket.gethostname()}")
    messages: list[str] = []

    async with anyio.create_task_group() as group:
        group.start_soon(GcWatch(repository / ".git", tell=messages.append).wait_for_gc)
        with anyio.fail_after(20):
            while not messages:  # noqa: ASYNC110 - it is what we wait for
                await anyio.sleep(0.05)
        sleeper.kill()
        sleeper.wait()

    place = str(repository / ".git")
    assert messages == [f"Waiting for `git gc` (process {sleeper.pid}) in {place!r} to finish."]


async def test_a_stale_note_that_names_a_living_process_holds_nobody_up(repository: Path) -> None:
    """Process ids are reused: this one is our own, not git's."""
    (repository / ".git" / NOTE).write_text(f"{os.getpid()} {socket.gethostname()}")

    with anyio.fail_after(5):
        assert await GcWatch(repository / ".git").wait_for_gc()


async def test_a_repository_that_is_gone_is_a_clear_error(repository: Path, workspace: GitWorkspace) -> None:
    write(repository, {"a.txt": "1\n"})
    await workspace.snapshot("0")
    shutil.rmtree(repository / ".git")
    write(repository, {"a.txt": "2\n"})

    with pytest.raises(WorkspaceNotReady, match=r"/\.git' is gone\. Restore it"):
        await workspace.snapshot("1")


def test_a_repository_that_disappears_while_a_snapshot_is_taken_is_a_clear_error(repository: Path) -> None:
    watch = GcWatch(repository / ".git")
    shutil.rmtree(repository / ".git")

    with pytest.raises(WorkspaceNotReady, match=r"/\.git' is gone\. Restore it"):
        assert watch.changed


async def test_the_note_of_a_gc_that_died_or_runs_elsewhere_holds_nobody_up(
    repository: Path, tmp_path: Path
) -> None:
    gone, alive = started("true"), started(sleeping_git(tmp_path), "60")
    gone.wait()
    for words in (f"{gone.pid} {socket.gethostname()}", f"{alive.pid} elsewhere", "", "x y"):
        (repository / ".git" / NOTE).write_text(words)
        with anyio.fail_after(20):
            assert await GcWatch(repository / ".git").wait_for_gc()
    alive.kill()
    alive.wait()


async def test_what_a_gc_took_from_a_snapshot_is_written_once_more(
    repository: Path, workspace: GitWorkspace
) -> None:
    """A file of the tree is gone although the tree has its ref, as after a concurrent gc."""
    write(repository, {"a.txt": "once\n"})
    settle(repository, "a.txt")
    await anyio.sleep(2 * FRESH_NANOSECONDS / 1e9)  # a younger file would be read, and written, each time
    blob = git(repository, "hash-object", "a.txt").strip()
    tree = await workspace.snapshot("0")
    (repository / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    (repository / ".git" / NOTE).write_text("1 elsewhere")

    assert await workspace.snapshot("1") == tree

    assert git(repository, "cat-file", "-p", blob) == "once\n"


@pytest.fixture
def prunes(tmp_path: Path) -> Iterator[Callable[[Path], subprocess.Popen[bytes]]]:
    """Starts what looks like a prune in a directory, and kills it after the test."""
    os.mkfifo(tmp_path / "never")
    prune, begun = (
        script(tmp_path / "git", f"read line < {tmp_path}/never\n"),
        list[subprocess.Popen[bytes]](),
    )

    def begin(cwd: Path) -> subprocess.Popen[bytes]:
        begun.append(subprocess.Popen([prune, "prune"], cwd=cwd))
        return begun[-1]

    yield begin
    for each in begun:
        each.kill()
        each.wait()


async def test_a_prune_that_runs_here_is_waited_for_and_none_elsewhere(
    repository: Path, tmp_path: Path, prunes: Callable[[Path], subprocess.Popen[bytes]]
) -> None:
    first, _ = prunes(repository), prunes(tmp_path)
    came: list[str] = []

    async def look() -> None:
        await GcWatch(repository / ".git").wait_for_prunes()
        came.append("looked")

    with anyio.fail_after(30):
        async with anyio.create_task_group() as group:
            group.start_soon(look)
            await anyio.sleep(0.5)
            came.append("ended")
            first.kill()
            first.wait()

    assert came == ["ended", "looked"]


class Pruned(Refs):
    """Refs during a prune that removes an object just as a tree gets its ref."""

    def __init__(self, refs: Refs, objects: Path, doomed: str | None) -> None:
        """If `doomed` is None, the tree itself is removed."""
        self.__dict__ |= refs.__dict__
        self._objects = objects
        self._doomed = doomed
        self.took: list[str] = []

    async def keep(self, tree: str, label: str) -> None:
        await super().keep(tree, label)
        if not self.took:
            self.took.append(self._doomed or tree)
            (self._objects / self.took[0][:2] / self.took[0][2:]).unlink()


@pytest.mark.parametrize("what", ["file", "tree"])
@pytest.mark.parametrize("new", [False, True])
@pytest.mark.parametrize("packed", [False, True])
async def test_what_a_prune_took_from_a_snapshot_is_written_once_more(
    repository: Path, workspace: GitWorkspace, packed: bool, new: bool, what: str
) -> None:
    """The missing object is the only trace of a prune."""
    write(repository, {"a.txt": "once\n"})
    await workspace.snapshot("0")
    if packed:  # an object in a pack has no file, but is there as well
        git(repository, "repack", "-q", "-a", "-d")
    write(repository, {"a.txt": "twice\n"})
    if new:
        write(repository, {"b.txt": "once\n"})
    blob = git(repository, "hash-object", "a.txt").strip()
    private = await workspace._ready()
    refs = Pruned(private.refs, repository / ".git" / "objects", blob if what == "file" else None)
    private.refs = refs

    tree = await workspace.snapshot("1")

    assert refs.took == [blob if what == "file" else tree]
    assert git(repository, "cat-file", "-p", blob) == "twice\n"
    assert git(repository, "rev-list", "--objects", tree).count("\n") == 2 + new
