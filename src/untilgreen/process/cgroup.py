"""A cgroup of its own for one child: what starts in it can't leave it, and dies with one write.

Needs Linux 5.14, cgroup v2, and a directory that we may write to: root, a systemd user session, a delegated
container. Elsewhere `make` gives None, and a tree is found process by process.
"""

from __future__ import annotations

import os
from contextlib import suppress
from functools import cache
from pathlib import Path

MOUNTS = (Path("/sys/fs/cgroup"), Path("/sys/fs/cgroup/unified"))
PREFIX = "untilgreen-"


@cache
def home() -> Path | None:
    """The directory of the cgroup that this process was in when it first asked."""
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        return None
    inside = next((line[3:] for line in lines if line.startswith("0::")), "")
    if not inside.startswith("/") or ".." in Path(inside).parts:
        return None
    mount = next((mount for mount in MOUNTS if (mount / "cgroup.controllers").is_file()), None)
    return mount / inside.lstrip("/") if mount else None


def make(mark: str) -> Path | None:
    """A new, empty cgroup below our own; None where that can't be done."""
    above = home()
    if above is None:
        return None
    made = above / f"{PREFIX}{mark}"
    try:
        made.mkdir(mode=0o755)
    except OSError:
        return None
    if (made / "cgroup.kill").is_file():
        return made
    remove(made)
    return None


def join(cgroup: Path, pid: int) -> bool:
    """Put a process into it, which takes some milliseconds; whether that worked."""
    try:
        (cgroup / "cgroup.procs").write_text(str(pid))
    except OSError:
        return False
    return True


def members(cgroup: Path) -> set[int]:
    """Everything that runs in it and below it."""
    pids: set[int] = set()
    for folder, _, _ in os.walk(cgroup):
        with suppress(OSError):
            pids.update(int(pid) for pid in Path(folder, "cgroup.procs").read_text().split())
    return pids


def kill(cgroup: Path) -> None:
    """End everything in it and below it, stopped processes and fresh forks included."""
    with suppress(OSError):
        (cgroup / "cgroup.kill").write_text("1")


def remove(cgroup: Path) -> bool:
    """Take it away with all that were made below it, unless one is still in use; whether it is gone."""
    with suppress(OSError):
        cgroup.rmdir()
        return True
    for folder, _, _ in os.walk(cgroup, topdown=False):
        with suppress(OSError):
            Path(folder).rmdir()
    return not cgroup.exists()
