"""A linked worktree for one run: created, removed, and finished as one commit on its branch."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path
from tempfile import TemporaryDirectory

from anyio import CancelScope, to_thread
from msgspec import Struct
from msgspec.structs import replace

from untilgreen.workspace.git.command import Git
from untilgreen.workspace.git.git_lock import alone
from untilgreen.workspace.git.private_repository import refuse_links
from untilgreen.workspace.git.settings import overrides, read_settings
from untilgreen.workspace.rmtree import copy_over, remove_tree, replace_file

NOBODY = {
    f"GIT_{role}_{what}": value
    for role in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "untilgreen"), ("EMAIL", "untilgreen@localhost"))
}
"""The committer if git does not know the user."""
_LONGEST_PATH = 5_000
"""No system has longer paths, and resolving one takes more than linear time."""
COMMITS = "commits"
"""The ref of the run that keeps the agent's own commits."""


class Worktree(Struct, frozen=True, kw_only=True):
    """Where one run works, apart from the files of its user and of every other run."""

    path: Path
    repository: Path
    """The git directory that all worktrees share."""
    run: str

    @property
    def branch(self) -> str:
        """The branch of the run."""
        return f"untilgreen/{self.run}"

    @property
    def git(self) -> Git:
        """git in the repository, which works even if the worktree is gone."""
        place = self.repository if self.repository.is_dir() else self.path.parent
        return Git(place=place, variables={"GIT_DIR": str(self.repository)})

    @property
    def inside(self) -> Git:
        """git in the worktree, even if somebody removed its `.git`."""
        admin = next(iter(self.admins()), self.path / ".git")
        return Git(place=self.path, variables={"GIT_DIR": str(admin), "GIT_WORK_TREE": str(self.path)})

    @property
    def whole(self) -> bool:
        """Whether worktree and repository still refer to each other; a lost `.git` file is put back."""
        admin = next(iter(self.admins()), None)
        if admin is None or not self.path.is_dir():
            return False
        link = self.path / ".git"
        if not os.path.lexists(link):
            link.write_bytes(b"gitdir: " + os.fsencode(admin) + b"\n")
        return link.is_file()

    async def make(self, commit: str, origin: Path) -> None:
        """Check out a commit on the branch, after removing what an earlier attempt left."""
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        async with alone(self._busy, self.path) as descriptors:
            await self._remove()
            for lock in (self.repository / "refs" / "heads").glob(f"{self.branch}.lock"):  # of a killed git
                lock.unlink()
            # In the user's own directory, so that the worktree is as sparse as that.
            git = Git(place=origin, descriptors=descriptors)
            git = replace(git, settings=overrides(await read_settings(git), origin))
            await git("worktree", "add", "--quiet", "-B", self.branch, str(self.path), commit)

    async def remove(self) -> None:
        """Remove the directory, and the repository's record of it."""
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        async with alone(self._busy, self.path):
            await self._remove()
        self._busy.unlink(missing_ok=True)

    async def commit(self, tree: str, parent: str, message: str, at: float) -> str | None:
        """Make one commit on the branch with all changes since the run began; None if nothing changed.

        HEAD is then detached at that commit, so the branch can be checked out elsewhere. The agent's own
        commits are kept under a ref of the run. Repeating this changes nothing.
        """
        refuse_links(self.repository / "objects")
        with CancelScope(shield=True):
            head = await self.head()
            made = await self._committed(tree, parent, message, at)
            if head not in (None, parent, made):
                await self.git("update-ref", f"refs/untilgreen/{self.run}/{COMMITS}", str(head))
            await self._stand_on(made or parent)
            self._without_log()
            branch = f"refs/heads/{self.branch}"
            if made:
                await self.git("update-ref", "--no-deref", branch, made)
            else:
                await self.git("update-ref", "--no-deref", "-d", branch)
        return made

    async def _stand_on(self, commit: str) -> None:
        """Detach HEAD at a commit, with an index that matches it.

        Agents in a sandbox can write the worktree's record, and git would follow a link that they put there:
        so both files are made elsewhere, and replace what is there.
        """
        for admin in self.admins():
            with TemporaryDirectory(prefix="untilgreen-index-") as scratch:
                made = Path(scratch, "index")
                await self.git.with_index(made)("read-tree", commit)
                await to_thread.run_sync(copy_over, made, admin / "index")
            replace_file(admin / "HEAD", f"{commit}\n".encode())

    def _without_log(self) -> None:
        """Remove the branch's log: git would append to it, even if it is a link that leads elsewhere."""
        for log in (self.repository / "logs" / "refs" / "heads").glob(self.branch):
            if log.is_symlink() or not log.is_dir():
                log.unlink()

    async def drop_branch(self, ours: Collection[str]) -> str | None:
        """Delete the branch if it is at one of these commits; otherwise return its commit."""
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
        """The commit the worktree is at."""
        found = await self.inside.attempt("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
        return found.stdout.decode().strip() or None

    @property
    def _busy(self) -> Path:
        return self.path.with_name(f"{self.path.name}.busy")

    async def _committed(self, tree: str, parent: str, message: str, at: float) -> str | None:
        before = (await self.git("rev-parse", f"{parent}^{{tree}}")).decode().strip()
        if before == tree:
            return None
        git = self.git
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
        """The repository's records of the worktree; more than one after a crash."""
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
