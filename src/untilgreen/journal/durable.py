"""What a file system has to be told before a file is safe, and what it tells about one."""

from __future__ import annotations

import os
import time
from pathlib import Path


def sync_folder(folder: Path) -> None:
    """A new file is only safe when its folder knows it for good."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def identity(path: Path, settled: float) -> tuple[int, int, int] | None:
    """Inode, size and time of a file, which tell when it was written to or replaced.

    None where there is no file, and where it was written to so few seconds ago that its time may stay the
    same when it is written to again.
    """
    try:
        found = os.stat(path)  # noqa: PTH116 - a list of runs asks this thousands of times
    except OSError:
        return None
    if time.time() - found.st_mtime < settled:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns
