"""Refs that keep snapshots from `git gc`; they show in no log and no list of branches."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from anyio import CancelScope, to_thread

from untilgreen.regex import regex
from untilgreen.workspace.git.command import Git
from untilgreen.workspace.git.loose_ref import create_ref

ATTEMPTS = 3
BEFORE = "before-"
"""Prefix of labels for snapshots taken before a restore or an apply, to go back to."""
_NOT_IN_A_REF = regex(r"[^A-Za-z0-9_-]+")


class Refs:
    """The snapshots of one run under `refs/untilgreen/<run>/`, by label."""

    def __init__(self, git: Git, run: str, common: Path | None = None) -> None:
        """`common` is the git directory that holds the refs; without it, git writes every ref."""
        self._git = git
        self._common = common
        self.by_git = False
        """Whether git has to write every ref, because it gives files special permissions there."""
        self._folder = f"refs/untilgreen/{_part(run)}/"
        self._known: dict[str, str] = {}
        self._owed: dict[str, str] = {}

    async def keep(self, tree: str, label: str) -> None:
        """Keep a tree under a label; if the label is taken, a number is added to it.

        A tree that already has a ref is safe, so further refs are written later, together.
        """
        ref = self._folder + _part(label)
        if tree in (self._known.get(ref), self._owed.get(ref)):
            return
        if tree in self._known.values() and ref not in self._known and ref not in self._owed:
            self._owed[ref] = tree
            return
        await self.settle()
        # A git killed here would leave a lock among the user's refs.
        with CancelScope(shield=True):
            if not await self._created(ref, tree):
                made = await self._git.attempt("update-ref", ref, tree, "")
                if made.returncode:
                    await self._keep_beside(tree, ref)
        self._known[ref] = tree

    async def _created(self, ref: str, tree: str) -> bool:
        """Write a new ref without git; False if git has to do it."""
        if self.by_git or self._common is None:
            return False
        return await to_thread.run_sync(create_ref, self._common, ref, tree)

    async def settle(self) -> None:
        """Write the refs that are still due."""
        if not self._owed:
            return
        lines = "".join(f"create {ref} {tree}\n" for ref, tree in self._owed.items())
        with CancelScope(shield=True):
            made = await self._git.attempt("update-ref", "--stdin", given=lines.encode())
            if made.returncode:
                for ref, tree in self._owed.items():
                    await self._keep_beside(tree, ref)
        self._known |= self._owed
        self._owed.clear()

    async def trees(self) -> dict[str, str]:
        """Every tree of the run by its ref."""
        await self.settle()
        return await self._listed()

    async def _listed(self) -> dict[str, str]:
        asked = "--format=%(objecttype) %(refname) %(objectname)"
        listed = (await self._git("for-each-ref", asked, self._folder)).decode().splitlines()
        return {ref: tree for kind, ref, tree in map(str.split, listed) if kind == "tree"}

    async def forget(self) -> None:
        """Delete every ref of the run."""
        listed = await self._git("for-each-ref", "--format=delete %(refname)", self._folder)
        with CancelScope(shield=True):
            await self._git("update-ref", "--stdin", given=listed)
        self._known.clear()
        self._owed.clear()

    async def thin(self, trees: Collection[str], *, dry_run: bool = False) -> int:
        """Delete all refs except those of these trees and of restores and applies; returns how many."""
        doomed = {
            ref: tree
            for ref, tree in (await self._listed()).items()
            if tree not in trees and not ref.removeprefix(self._folder).startswith(BEFORE)
        }
        if doomed and not dry_run:
            given = "".join(f"delete {ref} {tree}\n" for ref, tree in doomed.items())
            with CancelScope(shield=True):
                await self._git("update-ref", "--stdin", given=given.encode())
        return len(doomed)

    async def _keep_beside(self, tree: str, ref: str) -> None:
        taken = await self._listed()
        number, tried = 1, 0
        while True:
            name = ref if number == 1 else f"{ref}-{number}"
            if taken.get(name, tree) == tree:
                made = await self._git.attempt("update-ref", name, tree)
                tried += 1  # more than once: a killed git may have left a lock on this name
                if made.returncode == 0 or tried == ATTEMPTS:
                    self._git.checked(made)
                    return
            number += 1


def _part(name: str) -> str:
    """A name as one component of a ref, without characters that git refuses."""
    return _NOT_IN_A_REF.sub("-", name) or "-"
