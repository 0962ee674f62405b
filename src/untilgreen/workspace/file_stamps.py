"""Detects without git that nothing in a small work tree changed since the last snapshot."""

from __future__ import annotations

import os
import time

MOST_ENTRIES = 500
"""With more entries, asking git is faster."""
FRESH_NANOSECONDS = 100_000_000
"""A file changed this recently could change again without showing another time."""

Stamps = frozenset[tuple[bytes, int, int, int, int, int]]


def stamps(top: bytes) -> Stamps | None:
    """Every file and directory with its inode, mode, size and times; equal views mean equal files.

    None if that is not certain: too many entries, one that changed just now, one that can't be read, or a
    nested repository, whose state is kept elsewhere.
    """
    began = time.time_ns()
    entries = _entries(top)
    if entries is None or any(stat.st_ctime_ns > began - FRESH_NANOSECONDS for _, stat in entries):
        return None
    return frozenset(
        (path, stat.st_ino, stat.st_mode, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns)
        for path, stat in entries
    )


def _entries(top: bytes) -> list[tuple[bytes, os.stat_result]] | None:
    left = [b""]
    try:
        found = [(b"", os.lstat(top))]
        while left and len(found) <= MOST_ENTRIES:
            folder = left.pop()
            with os.scandir(top + b"/" + folder) as listed:
                for entry in listed:
                    if entry.name != b".git":
                        found.append((folder + entry.name, entry.stat(follow_symlinks=False)))
                        left += [folder + entry.name + b"/"] if entry.is_dir(follow_symlinks=False) else []
                    elif folder:
                        return None
    except OSError:
        return None
    return None if left or len(found) > MOST_ENTRIES else found
