"""Opens the workspace of a directory: its git repository, or a private one if there is none."""

from __future__ import annotations

from pathlib import Path

import anyio

from untilgreen.errors import WorkspaceNotReady
from untilgreen.workspace.git.repository import Repositories, Repository, repository_for_directory
from untilgreen.workspace.git_workspace import GitWorkspace


async def open_workspace(
    start: Path, run: str, private_dir: Path, repositories: Repositories | None = None
) -> GitWorkspace:
    """Open a directory for a run and check that it can be used; `private_dir` belongs to this run only.

    A run that began without a repository stays without: one that an agent made since could have any filters.
    """
    began_without = await anyio.Path(private_dir, "git", "objects").is_dir()
    known = repositories or Repositories()
    repository = None if began_without else await known.find(start)
    kind = DirectoryWorkspace if repository is None else GitWorkspace
    settings = None if repository is None else known.settings_once(repository)
    workspace = kind(start, run, private_dir, repository, settings)
    await workspace.prepare()
    return workspace


async def git_root(start: Path) -> Path | None:
    """The top of the work tree around a directory; None without git, or if git ignores the directory."""
    repository = await Repositories().find(start)
    return repository.top if repository else None


class DirectoryWorkspace(GitWorkspace):
    """A plain directory with everything in it, except what its own `.gitignore` names.

    Snapshots are kept in the run's private folder and removed with it.
    Repositories in the directory are left alone.
    """

    async def _repository(self) -> Repository:
        if not self.root.is_dir():
            raise WorkspaceNotReady(f"There is no directory {str(self.root)!r}. Choose one that exists.")
        home = Path.home().resolve()
        if home.is_relative_to(self.root):
            raise WorkspaceNotReady(
                f"{str(self.root)!r} is or contains your home directory, too much for a snapshot every lap. "
                "Start in the directory of your project."
            )
        return repository_for_directory(self.root, self._private / "git")
