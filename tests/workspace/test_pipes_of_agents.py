"""An agent that commits can put a pipe where git reads; git would wait for it, and the driver for git."""

import hashlib
import os
from pathlib import Path

import anyio
import pytest

from tests.workspace.helpers import git, write
from untilgreen.errors import WorkspaceNotReady
from untilgreen.workspace.git_workspace import GitWorkspace
from untilgreen.workspace.worktree import Worktree

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes with a name"),
]
NEW = "a new file\n"


def object_file(repository: Path) -> Path:
    """Where git would look for a file with this content."""
    name = hashlib.sha1(f"blob {len(NEW)}\0{NEW}".encode(), usedforsecurity=False).hexdigest()
    return repository / "objects" / name[:2] / name[2:]


@pytest.fixture
async def worktree(tmp_path: Path) -> Worktree:
    root = tmp_path / "work"
    git(tmp_path, "init", "--quiet", "work")
    write(root, {"a.txt": "1\n"})
    git(root, "add", "--all")
    git(root, "-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "--quiet", "--message", "one")
    made = Worktree(path=tmp_path / "state" / "run", repository=root / ".git", run="run")
    await made.make(git(root, "rev-parse", "HEAD").strip(), root)
    return made


@pytest.mark.parametrize("place", ["object", "branch", "index", "own ref", "link to a pipe"])
async def test_a_pipe_in_gits_own_directories_is_named_and_not_waited_for(
    worktree: Worktree, tmp_path: Path, place: str
) -> None:
    workspace = GitWorkspace(worktree.path, "run", tmp_path / "private")
    await workspace.snapshot("0")
    admin = worktree.admins()[0]
    pipe = {
        "object": object_file(worktree.repository),
        "branch": worktree.repository / "refs" / "heads" / worktree.branch,
        "index": admin / "index",
        "own ref": admin / "refs" / "worktree" / "mine",
        "link to a pipe": worktree.path / "pipe",
    }[place]
    pipe.parent.mkdir(parents=True, exist_ok=True)
    pipe.unlink(missing_ok=True)
    os.mkfifo(pipe)
    if place == "link to a pipe":
        (admin / "MERGE_HEAD").symlink_to(pipe)
    write(worktree.path, {"new.txt": NEW})

    with anyio.fail_after(20), pytest.raises(WorkspaceNotReady, match="Git never creates one there"):
        await workspace.snapshot("1")


async def test_a_pipe_is_found_in_a_directory_that_was_read_before(
    worktree: Worktree, tmp_path: Path
) -> None:
    """Directories that have not changed are not read again; making a pipe changes its directory."""
    place = object_file(worktree.repository)
    place.parent.mkdir(exist_ok=True)
    workspace = GitWorkspace(worktree.path, "run", tmp_path / "private")
    await anyio.sleep(0.2)  # so that the directory is old enough
    for number in range(2):
        write(worktree.path, {"other.txt": f"{number}\n"})
        await workspace.snapshot(str(number))
    before = place.parent.stat()
    os.mkfifo(place)
    os.utime(place.parent, ns=(before.st_atime_ns, before.st_mtime_ns))  # ctime can't be set back
    write(worktree.path, {"new.txt": NEW})

    with anyio.fail_after(20), pytest.raises(WorkspaceNotReady, match="not a regular file"):
        await workspace.snapshot("2")
