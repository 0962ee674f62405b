"""Snapshots of a directory without git: a repository in the run's own folder keeps them."""

from __future__ import annotations

from pathlib import Path

from untilgreen.errors import WorkspaceNotReady
from untilgreen.workspace.git import GitWorkspace
from untilgreen.workspace.ground import Ground, directory_ground


class DirectoryWorkspace(GitWorkspace):
    """A plain directory and all that is in it, but for what a `.gitignore` of its own names.

    The trees live in the run's private folder and go with it.
    Repositories inside the directory are left alone.
    """

    async def _ground(self) -> Ground:
        if not self.root.is_dir():
            raise WorkspaceNotReady(f"There is no directory {str(self.root)!r}. Name one that exists.")
        home = Path.home().resolve()
        if home.is_relative_to(self.root):
            raise WorkspaceNotReady(
                f"{str(self.root)!r} is or holds your home directory, too much to keep for every lap. "
                "Start in the directory of the project."
            )
        return directory_ground(self.root, self._private / "git")
