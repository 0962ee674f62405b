"""Whether anything in a small work tree moved, told from its files' times alone, without starting git."""

from __future__ import annotations

import os
import time

MOST_ENTRIES = 500
"""With more than these, git's own look is the faster one."""
FRESH_NANOSECONDS = 100_000_000
"""What changed so short a time ago could change again and show the same time."""

View = frozenset[tuple[bytes, int, int, int, int, int]]


def view(top: bytes) -> View | None:
    """Every file and directory with its identity, mode, size and times; equal views hold equal files.

    None where that can't be said: too many entries, one that moved only just now, one that can't be looked
    at, or another repository inside, whose state lies elsewhere.
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
