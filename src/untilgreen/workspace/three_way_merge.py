"""Merges what a run changed into what somebody else changed since."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from untilgreen.workspace.git.command import Git, path_as_text
from untilgreen.workspace.git.index_seed import REGULAR
from untilgreen.workspace.git.private_index import Index
from untilgreen.workspace.git.tree_diff import ABSENT, SUBMODULE, Difference, differences
from untilgreen.workspace.git_workspace import GitWorkspace
from untilgreen.workspace.restore import in_the_way

BROKEN = 128
"""Exit codes of `git merge-file` from here on mean failure; lower ones count conflicts."""
YOURS, BEFORE = "yours", "before the run"


class Conflict(NamedTuple):
    """A path that both sides changed, so somebody has to choose."""

    path: bytes
    why: str
    text: bytes = b""
    """The file with both sides between the usual markers; empty if it is not text."""


class Merged(NamedTuple):
    """The merged tree; conflicting files contain markers, or the first side if they are not text."""

    tree: str
    conflicts: tuple[Conflict, ...] = ()


class Merging:
    """Merges trees of one workspace."""

    def __init__(self, workspace: GitWorkspace) -> None:
        self._workspace = workspace

    async def tree(self, name: str) -> str:
        """The tree that a commit holds."""
        private = await self._workspace._ready()
        return (await private.git("rev-parse", f"{name}^{{tree}}")).decode().strip()

    async def carry(self, base: str, ours: str, theirs: str) -> str:
        """The changes from base to theirs on top of ours; if both changed a path, theirs wins."""
        if ours in (base, theirs):
            return theirs
        private = await self._workspace._ready()
        async with private.alone() as git:
            entries = [(each.new_mode, each.new, each.path) for each in await differences(git, base, theirs)]
            # Removals first: a file may be where a directory was.
            entries.sort(key=lambda entry: entry[0] != ABSENT)
            return await Index(git, private.index).changed_tree(ours, entries) if entries else ours

    async def merge(self, base: str, ours: str, theirs: str, label: str) -> Merged:
        """Merge both sides' changes since base; ours is what is on disk, apart from ignored files."""
        private = await self._workspace._ready()
        async with private.alone() as git:
            mine = _Mine(await differences(git, base, ours), private.repository.top)
            changes = [each for each in await differences(git, base, theirs) if not mine.has(each)]
            mine.expect(changes)
            entries, conflicts = [], []
            with TemporaryDirectory(prefix="merge-", dir=private.path) as scratch:
                files = _Files(git, Path(scratch), label)
                for change in changes:
                    entry, conflict = await _settle(change, mine, files)
                    conflicts += [conflict] if conflict else []
                    entries += [entry] if entry else []
            entries.sort(key=lambda entry: entry[0] != ABSENT)
            tree = await Index(git, private.index).changed_tree(ours, entries) if entries else ours
            return Merged(tree, tuple(conflicts))


Entry = tuple[bytes, bytes, bytes]


class _Mine:
    """What the first side changed."""

    def __init__(self, changes: Sequence[Difference], top: Path) -> None:
        self._top = os.fsencode(top)
        self._changes = {each.path: each for each in changes}
        there = [each.path for each in changes if not each.deleted]
        self._folders = {above: path for path in there for above in _above(path)}
        self._files = set(there)
        self._leaving: list[Difference] = []
        self._crowded = False

    def at(self, path: bytes) -> Difference | None:
        """This side's change to a path."""
        return self._changes.get(path)

    def has(self, change: Difference) -> bool:
        """Whether it has changed the path in the same way already."""
        other = self.at(change.path)
        return other is not None and (other.new_mode, other.new) == (change.new_mode, change.new)

    def in_the_way(self, change: Difference) -> bytes | None:
        """A file where the other side needs a directory, or the other way round."""
        if change.deleted:
            return None
        found = next((above for above in _above(change.path) if above in self._files), None)
        return found or self._folders.get(change.path) or self._ignored(change)

    def expect(self, changes: Sequence[Difference]) -> None:
        """Note whether files that are in no tree lie where the other side adds some."""
        alone = [each for each in changes if each.path not in self._changes]
        self._leaving = [each for each in alone if each.deleted]
        self._crowded = any(in_the_way(self._top, alone))

    def _ignored(self, change: Difference) -> bytes | None:
        if not self._crowded:
            return None
        obstacles, blocked = in_the_way(self._top, [change, *self._leaving])
        return min(obstacles | blocked, default=None)


def _above(path: bytes) -> list[bytes]:
    parts = path.split(b"/")
    return [b"/".join(parts[:depth]) for depth in range(1, len(parts))]


async def _settle(change: Difference, mine: _Mine, files: _Files) -> tuple[Entry | None, Conflict | None]:
    """What becomes of one path that the run changed: an entry of the merged tree, a conflict, or both."""
    other = mine.at(change.path)
    if other is None:
        blocking = mine.in_the_way(change)
        if blocking is not None:
            return None, Conflict(change.path, f"you have {path_as_text(blocking)!r}, which is in its way")
        return (change.new_mode, change.new, change.path), None
    if change.deleted or other.deleted:
        why = "you changed it, the run deleted it" if change.deleted else "you deleted it, the run changed it"
        return None, Conflict(change.path, why)
    if change.new_mode not in REGULAR or other.new_mode not in REGULAR:
        kind = "submodule" if SUBMODULE in (change.new_mode, other.new_mode) else "link"
        return None, Conflict(change.path, f"it is a {kind} that both of you changed")
    mode = change.new_mode if other.new_mode == other.old_mode else other.new_mode
    return await files.merge(change, other, mode)


class _Files:
    """Merges one file at a time with `git merge-file`."""

    def __init__(self, git: Git, scratch: Path, label: str) -> None:
        self._git = git
        self._scratch = scratch
        self._label = label

    async def merge(
        self, change: Difference, other: Difference, mode: bytes
    ) -> tuple[Entry | None, Conflict | None]:
        base = b"" if change.added or change.old_mode not in REGULAR else await self._content(change.old)
        sides = (await self._content(other.new), base, await self._content(change.new))
        names = [self._scratch / name for name in ("ours", "base", "theirs")]
        for name, content in zip(names, sides, strict=True):
            name.write_bytes(content)
        labels = [part for label in (YOURS, BEFORE, self._label) for part in ("-L", label)]
        done = await self._git.attempt("merge-file", "-p", "--diff3", *labels, *map(str, names))
        if done.returncode < 0 or done.returncode >= BROKEN:
            return None, Conflict(change.path, "both of you changed it, and it is not text")
        made = await self._git("hash-object", "-w", "--stdin", given=done.stdout)
        entry = (mode, made.strip(), change.path)
        if not done.returncode:
            return entry, None
        return entry, Conflict(change.path, "both of you changed the same lines", done.stdout)

    async def _content(self, blob: bytes) -> bytes:
        return await self._git("cat-file", "blob", blob)
