"""Makes files durable, tells whether a file changed, and reads regular files only."""

from __future__ import annotations

import errno
import os
import stat
import time
from pathlib import Path
from typing import BinaryIO


def open_regular(path: Path) -> BinaryIO:
    """Open a file to read it; a pipe or a device in its place is an error, so we never wait for it."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_NONBLOCK", 0))
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "it is not a regular file", os.fspath(path))
    return os.fdopen(descriptor, "rb")


def read_regular(path: Path) -> bytes:
    """The content of a regular file."""
    with open_regular(path) as file:
        return file.read()


def sync_folder(folder: Path) -> None:
    """Sync a directory: a new file is durable only when its directory entry is."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def identity(path: Path, settled: float = 0.0) -> tuple[int, int, int] | None:
    """Inode, size and time of a file, which change when it is written to or replaced.

    None if there is no file, or if it was written less than `settled` seconds ago: its time could then stay
    the same when it is written again.
    """
    try:
        found = os.stat(path)  # noqa: PTH116 - a list of runs asks this thousands of times
    except OSError:
        return None
    if time.time() - found.st_mtime < settled:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns
