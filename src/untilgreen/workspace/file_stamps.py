"""Lists the files of a small work tree with their times, to tell without git which may have changed."""

from __future__ import annotations

import os
import stat
import time
from typing import NamedTuple

MOST_ENTRIES = 1000
"""With more entries, asking git is faster."""
FRESH_NANOSECONDS = 100_000_000
"""A file changed this recently could change again without getting another time."""

Stamp = tuple[int, int, int, int, int]
"""Inode, mode, size and times."""


class Listing(NamedTuple):
    """Every file and directory of a work tree."""

    found: dict[bytes, Stamp]
    fresh: frozenset[bytes]
    """Paths that changed a moment ago, so their stamps may miss a later change."""

    def changed_since(self, before: Listing) -> list[bytes] | None:
        """Files that may have changed; None if a path appeared, vanished, or became something else."""
        if self.found.keys() != before.found.keys():
            return None
        moved = []
        for path, now in self.found.items():
            was = before.found[path]
            if now == was and path not in before.fresh:
                continue
            if stat.S_IFMT(now[1]) != stat.S_IFMT(was[1]):
                return None
            if not stat.S_ISDIR(now[1]):
                moved.append(path)
        return moved


def listing(top: bytes) -> Listing | None:
    """List a work tree; None if git has to: too many entries, an unreadable one, or a nested repository."""
    began = time.time_ns()
    found = _entries(top)
    if found is None:
        return None
    fresh = (path for path, stamp in found.items() if stamp[-1] > began - FRESH_NANOSECONDS)
    return Listing(found, frozenset(fresh))


def _entries(top: bytes) -> dict[bytes, Stamp] | None:
    left = [b""]
    try:
        found = {b"": stamp_of(os.lstat(top))}
        while left and len(found) <= MOST_ENTRIES:
            folder = left.pop()
            with os.scandir(top + b"/" + folder) as listed:
                for entry in listed:
                    if entry.name != b".git":
                        found[folder + entry.name] = stamp_of(entry.stat(follow_symlinks=False))
                        left += [folder + entry.name + b"/"] if entry.is_dir(follow_symlinks=False) else []
                    elif folder:
                        return None
    except OSError:
        return None
    return None if left or len(found) > MOST_ENTRIES else found


def stamp_of(found: os.stat_result) -> Stamp:
    """A value that differs after every change to a file or directory."""
    return found.st_ino, found.st_mode, found.st_size, found.st_mtime_ns, found.st_ctime_ns
