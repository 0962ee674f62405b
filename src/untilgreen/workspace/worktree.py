"""A linked worktree for one run: made, taken away, and ended as one commit on a branch of its own."""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path

from anyio import CancelScope, to_thread

from untilgreen.workspace.busy import alone
from untilgreen.workspace.plumbing import Git
from untilgreen.workspace.remove import remove_tree

NOBODY = {
    f"GIT_{role}_{what}": value
    for role in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "untilgreen"), ("EMAIL", "untilgreen@localhost"))
}
"""Who commits where git does not know its user."""
_LONGEST_PATH = 5_000
"""No system has longer ones, and looking for one takes more than time in proportion."""
COMMITS = "commits"
"""The ref below those of the run that keeps what the agent committed itself."""


@dataclass(frozen=True, kw_only=True)
class Worktree:
    """Where one run works, beside the files of its user and of every other run."""

    path: Path
    repository: Path
    """What all worktrees share: the git directory of the repository itself."""
    run: str

    @property
    def branch(self) -> str:
        """The branch of the run."""
        return f"untilgreen/{self.run}"

    @property
    def git(self) -> Git:
        """git in the repository, whichever of its worktrees are still there."""
        place = self.repository if self.repository.is_dir() else self.path.parent
        return Git(place=place, variables={"GIT_DIR": str(self.repository)})

    @property
    def inside(self) -> Git:
        """git in the worktree, also where somebody removed its `.git`."""
        admin = next(iter(self.admins()), self.path / ".git")
        return Git(place=self.path, variables={"GIT_DIR": str(admin), "GIT_WORK_TREE": str(self.path)})

    @property
    def whole(self) -> bool:
        """Whether the files and the repository still know of each other; a lost `.git` is put back."""
        admin = next(iter(self.admins()), None)
        if admin is None or not self.path.is_dir():
            return False
        link = self.path / ".git"
        if not os.path.lexists(link):
            link.write_bytes(b"gitdir: " + os.fsencode(admin) + b"\n")
        return link.is_file()

    async def make(self, commit: str, origin: Path) -> None:
        """Check a commit out on the branch; what an earlier attempt left is taken away first."""
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        async with alone(self._busy, self.path) as descriptors:
            await self._remove()
            for lock in (self.repository / "refs" / "heads").glob(f"{self.branch}.lock"):  # of a killed git
                lock.unlink()
            # From the user's own directory, so that the new one is as sparse as that.
            git = replace(Git(place=origin), descriptors=descriptors)
            await git("worktree", "add", "--quiet", "-B", self.branch, str(self.path), commit)

    async def remove(self) -> None:
        """Take the directory away, and what the repository knows of it."""
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        async with alone(self._busy, self.path):
            await self._remove()
        self._busy.unlink(missing_ok=True)

    async def commit(self, tree: str, parent: str, message: str, at: float) -> str | None:
        """End as one commit on the branch, seen from where the run began; None where nothing changed.

        The worktree then stands on the commit itself, so that the branch can be checked out elsewhere. What
        the agent committed is kept under a ref of the run. Doing it once more changes nothing.
        """
        with CancelScope(shield=True):
            head = await self.head()
            made = await self._committed(tree, parent, message, at)
            if head not in (None, parent, made):
                await self.git("update-ref", f"refs/untilgreen/{self.run}/{COMMITS}", str(head))
            end = made or parent
            await self.inside("update-ref", "--no-deref", "HEAD", end)
            await self.inside("reset", "--quiet", "--mixed")
            if made:
                await self.git("update-ref", f"refs/heads/{self.branch}", made)
            else:
                await self.git("update-ref", "-d", f"refs/heads/{self.branch}")
        return made

    async def drop_branch(self, ours: Collection[str]) -> str | None:
        """Delete the branch where it still is at one of these commits; else give the commit it is at."""
        ref = f"refs/heads/{self.branch}"
        found = await self.git.attempt("rev-parse", "--verify", "--quiet", ref)
        at = found.stdout.decode().strip()
        if not at:
            return None
        checked_out = await self.git("for-each-ref", "--format=%(worktreepath)", ref)
        if at not in ours or checked_out.strip():
            return at
        with CancelScope(shield=True):
            await self.git("update-ref", "-d", ref, at)
        return None

    async def head(self) -> str | None:
        """The commit that the worktree stands on."""
        found = await self.inside.attempt("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
        return found.stdout.decode().strip() or None

    @property
    def _busy(self) -> Path:
        return self.path.with_name(f"{self.path.name}.busy")

    async def _committed(self, tree: str, parent: str, message: str, at: float) -> str | None:
        before = (await self.git("rev-parse", f"{parent}^{{tree}}")).decode().strip()
        if before == tree:
            return None
        git = self.inside
        known = await git.attempt("var", "GIT_COMMITTER_IDENT")
        author = await git.attempt("var", "GIT_AUTHOR_IDENT")
        names = NOBODY if known.returncode or author.returncode else {}
        moment = f"@{int(at)} +0000"
        dates = {"GIT_AUTHOR_DATE": moment, "GIT_COMMITTER_DATE": moment}
        git = replace(git, variables={**git.variables, **names, **dates})
        made = await git("commit-tree", tree, "-p", parent, given=message.encode(errors="replace"))
        return made.decode().strip()

    async def _remove(self) -> None:
        await to_thread.run_sync(remove_tree, self.path)
        for admin in self.admins():
            await to_thread.run_sync(remove_tree, admin)

    def admins(self) -> list[Path]:
        """Where the repository keeps what it knows of the worktree; more than one after a crash."""
        wanted = os.path.realpath(self.path / ".git")
        found = []
        for admin in (self.repository / "worktrees").glob("*"):
            try:
                written = (admin / "gitdir").read_bytes().decode(errors="surrogateescape").rstrip("\n")
            except (FileNotFoundError, NotADirectoryError):
                written = ""
            named = written and "\0" not in written and len(written) < _LONGEST_PATH
            ours = os.path.realpath(admin / written) == wanted if named else admin.name == self.path.name
            if ours:
                found.append(admin)
        return found
