"""The workspace for a directory: its git repository where there is one, a shadow repository otherwise."""

from __future__ import annotations

from pathlib import Path

import anyio

from untilgreen.workspace.directory import DirectoryWorkspace
from untilgreen.workspace.git import GitWorkspace
from untilgreen.workspace.ground import find_ground


async def open_workspace(start: Path, run: str, private_dir: Path) -> GitWorkspace:
    """Open a directory for a run and see that it can be worked in; `private_dir` belongs to the run alone.

    A run goes on as it began: a repository that an agent made meanwhile has filters of the agent's choice.
    """
    began_without = await anyio.Path(private_dir, "git", "objects").is_dir()
    kind = DirectoryWorkspace if began_without or not await git_root(start) else GitWorkspace
    workspace = kind(start, run, private_dir)
    await workspace.prepare()
    return workspace


async def git_root(start: Path) -> Path | None:
    """The highest directory of the work tree; None without git, or where git ignores the directory."""
    ground = await find_ground(Path(await anyio.Path(start).resolve()))
    return ground.top if ground else None
