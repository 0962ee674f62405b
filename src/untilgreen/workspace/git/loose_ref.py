"""Creates a ref as git does: under its lock, and in a file of its own that is never half there."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path

from untilgreen.crash_points import passing

PACKED = "packed-refs"
OTHER_STORE = "reftable"


def create_ref(common: Path, ref: str, name: str) -> bool:
    """Let a ref that does not exist yet name an object; False if it has to be left to git.

    `common` is the git directory that holds the refs of all worktrees.
    """
    if (common / OTHER_STORE).exists():
        return False
    path = common / ref
    lock = path.with_name(f"{path.name}.lock")
    passing("ref", "before", "create")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(lock, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), 0o666)
    except OSError:
        return False
    try:
        with open(descriptor, "wb") as file:  # noqa: PTH123 - a descriptor
            free = not os.path.lexists(path) and not _is_packed(common, ref)
            if free:
                file.write(f"{name}\n".encode())
                file.flush()
                os.fsync(descriptor)
        if free:
            lock.replace(path)
            passing("ref", "after", "create")
            return True
    except OSError:
        pass
    with suppress(OSError):
        lock.unlink()
    return False


def _is_packed(common: Path, ref: str) -> bool:
    """Whether the ref, or one in place of its folder, is in the file of old refs."""
    try:
        descriptor = os.open(common / PACKED, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except FileNotFoundError:
        return False
    with open(descriptor, "rb") as file:  # noqa: PTH123 - a descriptor
        packed = file.read() if stat.S_ISREG(os.fstat(descriptor).st_mode) else b""  # a pipe has no end
    return any(b" %s\n" % name.encode() in packed for name in (ref, ref.rpartition("/")[0]))
