"""Creates a loose ref without git, whole or not at all."""

from __future__ import annotations

import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path

from untilgreen.crash_points import passing

PACKED = "packed-refs"
OTHER_STORE = "reftable"
LOCK = ".lock"
"""git takes no name with this ending for a ref."""


def create_ref(common: Path, ref: str, name: str) -> bool:
    """Create a new ref that names an object; False if that has to be left to git.

    `common` is the git directory that holds the refs of all worktrees. A hard link never replaces a file, so
    git's lock is not needed, and a driver killed here leaves no lock behind.
    """
    path = common / ref
    if (common / OTHER_STORE).exists() or os.path.lexists(path.with_name(path.name + LOCK)):
        return False
    draft = path.with_name(f"{path.name}.{secrets.token_hex(4)}{LOCK}")
    passing("ref", "before", "create")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(
            draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), 0o666
        )
        with open(descriptor, "wb") as file:  # noqa: PTH123 - a descriptor
            file.write(f"{name}\n".encode())
            file.flush()
            os.fsync(descriptor)
        if _is_packed(common, ref):
            return False
        path.hardlink_to(draft)
    except OSError:
        return False
    finally:
        with suppress(OSError):
            draft.unlink()
    passing("ref", "after", "create")
    return True


def _is_packed(common: Path, ref: str) -> bool:
    """Whether `packed-refs` lists the ref, or one with the name of its folder."""
    try:
        descriptor = os.open(common / PACKED, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except FileNotFoundError:
        return False
    with open(descriptor, "rb") as file:  # noqa: PTH123 - a descriptor
        packed = file.read() if stat.S_ISREG(os.fstat(descriptor).st_mode) else b""  # a pipe has no end
    return any(b" %s\n" % name.encode() in packed for name in (ref, ref.rpartition("/")[0]))
