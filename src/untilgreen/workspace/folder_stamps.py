"""Lists a large work tree's directories with their times, to tell without git that no file is new or gone.

A directory's time changes with every file added, removed or renamed in it. Which of them git ignores can
change with a `.gitignore` file, so the times of those files are kept too.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from typing import NamedTuple

from untilgreen.workspace.file_stamps import FRESH_NANOSECONDS, Stamp, stamp_of

MOST_FOLDERS = 5000
"""With more of them, asking git is faster."""
RULES = b".gitignore"


class Folder(NamedTuple):
    """One directory."""

    stamp: Stamp
    below: tuple[bytes, ...]
    """The names of the directories in it."""
    rules: tuple[tuple[bytes, Stamp], ...]
    """Its `.gitignore` files, in upper or lower case, since some disks don't tell them apart."""

    def stamps(self) -> Iterator[Stamp]:
        """Every stamp that shows whether it changed."""
        yield self.stamp
        yield from (stamp for _, stamp in self.rules)


class Folders(NamedTuple):
    """Every directory of a work tree, by path."""

    found: dict[bytes, Folder]
    began: int
    """When the listing began."""

    def same_as(self, before: Folders | None) -> bool:
        """Whether no name was added or removed since `before`."""
        return before is not None and before.found == self.found and before.settled()

    def settled(self) -> bool:
        """Whether nothing changed just before the listing, so that any later change shows."""
        return not any(self._fresh(stamp) for folder in self.found.values() for stamp in folder.stamps())

    def unchanged(self, path: bytes, stamp: Stamp) -> Folder | None:
        """The directory as it was listed, if its stamp is still the same."""
        known = self.found.get(path)
        return known if known and known.stamp == stamp and not self._fresh(stamp) else None

    def _fresh(self, stamp: Stamp) -> bool:
        return stamp[-1] > self.began - FRESH_NANOSECONDS


def folders(top: bytes, before: Folders | None = None) -> Folders | None:
    """List the directories; None if git has to: too many, or an unreadable one; `before` saves most work."""
    began = time.time_ns()
    found: dict[bytes, Folder] = {}
    left = [b""]
    try:
        while left:
            if len(found) == MOST_FOLDERS:
                return None
            path = left.pop()
            stamp = stamp_of(os.lstat(top + b"/" + path))
            known = before.unchanged(path, stamp) if before else None
            below, rules = (
                _names(top + b"/" + path)
                if known is None
                else (known.below, tuple(name for name, _ in known.rules))
            )
            stamps = tuple((name, stamp_of(os.lstat(top + b"/" + path + name))) for name in rules)
            found[path] = Folder(stamp, below, stamps)
            left += [path + name + b"/" for name in below]
    except OSError:
        return None
    return Folders(found, began)


def _names(place: bytes) -> tuple[tuple[bytes, ...], tuple[bytes, ...]]:
    """The directories in a directory, except `.git`, and its `.gitignore` files."""
    below, rules = [], []
    with os.scandir(place) as listed:
        for entry in listed:
            if entry.name.lower() == RULES:
                rules.append(entry.name)
            elif entry.name != b".git" and entry.is_dir(follow_symlinks=False):
                below.append(entry.name)
    return tuple(below), tuple(sorted(rules))
