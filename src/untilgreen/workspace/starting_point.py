"""The state of a repository before a run: its commit, and uncommitted changes."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from untilgreen.workspace.git.command import Git, path_as_text, split
from untilgreen.workspace.git.head import UNBORN, History
from untilgreen.workspace.git.repository import Repositories, Repository
from untilgreen.workspace.git.settings import overrides

STATUS = ("status", "--porcelain", "-z", "--untracked-files=normal", "--no-renames")


class StartingPoint(NamedTuple):
    """A repository before the first turn."""

    repository: Repository
    commit: str | None
    """The commit of HEAD; None before the first commit."""
    dirty: list[str]
    """Paths with uncommitted changes, including new files; directories end in a slash."""


async def starting_point(start: Path, repositories: Repositories) -> StartingPoint | None:
    """The starting point of a run in that directory; None without git."""
    repository = await repositories.find(start)
    if repository is None:
        return None
    settings = overrides(await repositories.settings(repository), repository.top)
    git = Git(place=repository.top, settings=settings)
    head = await History(repository).head()
    listed = split(await git(*STATUS, "--ignore-submodules=dirty"))
    return StartingPoint(
        repository, None if head == UNBORN else head, [path_as_text(line[3:]) for line in listed]
    )
