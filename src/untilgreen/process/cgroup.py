"""A cgroup for one child: nothing started in it can leave, and it is killed with one write.

Needs Linux 5.14, cgroup v2, and a cgroup directory we may write to (root, a systemd user session, a
delegated container). Elsewhere `make` returns None, and descendants are found process by process.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path

MOUNTS = (Path("/sys/fs/cgroup"), Path("/sys/fs/cgroup/unified"))
PREFIX = "untilgreen-"
CONTROLLERS = frozenset({"memory", "pids"})


@cache
def home() -> Path | None:
    """The directory of the cgroup this process was in at the first call."""
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        return None
    inside = next((line[3:] for line in lines if line.startswith("0::")), "")
    if not inside.startswith("/") or ".." in Path(inside).parts:
        return None
    mount = next((mount for mount in MOUNTS if (mount / "cgroup.controllers").is_file()), None)
    return mount / inside.lstrip("/") if mount else None


def make(mark: str, limits: Mapping[str, int] | None = None) -> Path | None:
    """Make an empty cgroup below our own, or beside it if limits can be set only there; None if that fails.

    `limits` maps the kernel's files, such as `pids.max`, to numbers; unless all can be set, none is.
    """
    above = home()
    if above is None:
        return None
    place = limiting(above) if limits else None
    made = None if place is None else _make(place, mark)
    if made is not None and all(_write(made / name, str(most)) for name, most in (limits or {}).items()):
        _write(made / "memory.swap.max", "0")
        return made
    if made is not None:
        remove(made)
    return _make(above, mark)


def limiting(above: Path | None) -> Path | None:
    """Where a cgroup with limits can be made: its controllers are on, and we may move our children there."""
    for place in () if above is None else (above, above.parent):
        try:
            on = set((place / "cgroup.subtree_control").read_text().split())
        except OSError:
            continue
        if on >= CONTROLLERS and os.access(place / "cgroup.procs", os.W_OK):
            return place
    return None


def _write(file: Path, text: str) -> bool:
    try:
        handle = os.open(file, os.O_WRONLY)  # half the system calls of a file object
        try:
            os.write(handle, text.encode())
        finally:
            os.close(handle)
    except OSError:
        return False
    return True


def _make(above: Path, mark: str) -> Path | None:
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
    """Move a process into it, which takes milliseconds; returns whether that worked."""
    return _write(cgroup / "cgroup.procs", str(pid))


def members(cgroup: Path) -> set[int]:
    """Every process in it and below it."""
    pids: set[int] = set()
    for folder, _, _ in os.walk(cgroup):
        with suppress(OSError):
            pids.update(int(pid) for pid in Path(folder, "cgroup.procs").read_text().split())
    return pids


def kill(cgroup: Path) -> None:
    """Kill everything in it and below it, including stopped processes and new forks."""
    with suppress(OSError):
        (cgroup / "cgroup.kill").write_text("1")


def remove_empty(cgroup: Path) -> bool:
    """Remove it if no process is in it and no cgroup below it; returns whether it is gone."""
    try:
        cgroup.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def remove(cgroup: Path) -> bool:
    """Remove it and all cgroups below it, unless one is still in use; returns whether it is gone."""
    if remove_empty(cgroup):
        return True
    for folder, _, _ in os.walk(cgroup, topdown=False):
        with suppress(OSError):
            Path(folder).rmdir()
    return not cgroup.exists()
