"""Snapshots are on the remote before anybody hears of them, and only one driver pushes them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.surfaces.cli.helpers import git, repository
from untilgreen.errors import JournalTaken, UserError, WorkspaceNotReady
from untilgreen.workspace.git.command import Git
from untilgreen.workspace.remote import REFS, Remote, RemoteWorkspace

pytestmark = pytest.mark.anyio
RUN = "2pk1c9x4t"


async def opened(tmp_path: Path, name: str, *, ours: bool = True) -> tuple[RemoteWorkspace, Path]:
    """A machine that continues the run from the remote's state: a cache, and a worktree of it."""
    source, there, place = tmp_path / "source", tmp_path / "remote.git", tmp_path / name
    remote = Remote(str(there), tmp_path / f"{name}-cache")
    if not there.exists():
        repository(source, {"file": "begin\n"})
        git(source, "init", "--quiet", "--bare", str(there))
        await remote.begin(RUN, Git(place=source), git(source, "rev-parse", "HEAD").strip())
    commit = git(source, "rev-parse", "HEAD").strip()
    chain = await remote.fetch(RUN, commit)
    git(remote.path, "worktree", "add", "--quiet", "--detach", str(place), commit)

    async def check() -> None:
        if not ours:
            raise JournalTaken("Run was taken over by another driver.")

    private = tmp_path / f"{name}-private"
    workspace = RemoteWorkspace(place, RUN, private, remote=remote, chain=chain, commit=commit, check=check)
    return workspace, place


def pushed(tmp_path: Path) -> list[str]:
    there = tmp_path / "remote.git"
    return git(there, "log", "--format=%T", f"{REFS}/{RUN}").split()


async def test_snapshots_are_compared_where_nobody_worked_on_the_run(tmp_path: Path) -> None:
    workspace, place = await opened(tmp_path, "a")
    before = await workspace.snapshot("one")
    (place / "file").write_text("changed\n")
    after = await workspace.snapshot("two")
    elsewhere = Remote(str(tmp_path / "remote.git"), tmp_path / "elsewhere")

    diff = await elsewhere.diff(RUN, before, after)

    assert diff == await workspace.diff(before, after)
    assert "-begin\n+changed\n" in diff
    with pytest.raises(UserError, match="not a snapshot"):
        await elsewhere.diff(RUN, before, "--output=x")


def test_an_address_that_git_would_read_as_an_option_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WorkspaceNotReady, match="is not the address of a git remote"):
        Remote("--upload-pack=touch x", tmp_path)


async def test_a_snapshot_is_on_the_remote_before_anybody_hears_of_it(tmp_path: Path) -> None:
    workspace, place = await opened(tmp_path, "a")
    (place / "file").write_text("more\n")

    tree = await workspace.snapshot("1")

    assert pushed(tmp_path)[0] == tree


async def test_a_zombie_can_not_push(tmp_path: Path) -> None:
    zombie, place = await opened(tmp_path, "a", ours=False)
    newer, other = await opened(tmp_path, "b")
    (other / "file").write_text("newer\n")
    await newer.snapshot("1")
    before = pushed(tmp_path)
    (place / "file").write_text("older\n")

    with pytest.raises(JournalTaken):
        await zombie.snapshot("1")

    assert pushed(tmp_path) == before


async def test_the_one_that_has_the_run_continues_behind_what_a_zombie_pushed(tmp_path: Path) -> None:
    first, place = await opened(tmp_path, "a")
    second, other = await opened(tmp_path, "b")
    (place / "file").write_text("last words\n")
    await first.leave(1, 1)
    (other / "file").write_text("newer\n")

    tree = await second.snapshot("1")

    assert pushed(tmp_path)[0] == tree
    assert len(pushed(tmp_path)) == 3
