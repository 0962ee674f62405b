"""Which paths a sandbox has to hide or must not follow: an agent's links, root's own files, sockets."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path

from untilgreen.errors import AgentUnavailable

_MOST_LINKS = 40
_OF_ROOT = {"/": 1, "/etc": 6, "/home": 1, "/opt": 2, "/srv": 2, "/var": 3, "/mnt": 1, "/media": 2}
"""Where to search for files that only root may read, and how deep."""
_PROC = "/proc"
_SOCKETS, _PATH_FIELD = Path("/proc/net/unix"), 7


def resolved(path: Path, writable: Iterable[Path]) -> Path:
    """The real path; a link in a directory that agents can write to may be theirs, and is refused."""
    current, left = Path("/"), list(path.parts[1:])
    places, links = [Path(os.path.realpath(each)) for each in writable], 0
    while left:
        part = left.pop(0)
        if part == "..":
            current = current.parent
            continue
        step = current / part
        if not step.is_symlink():
            current = step
            continue
        links += 1
        if links > _MOST_LINKS or any(place in step.parents for place in places):
            raise AgentUnavailable(
                f"The sandbox can't show {str(path)!r}: {str(step)!r} is a link in a directory that "
                "agents can write, so it could lead anywhere. Put a real directory or file in its place."
            )
        target = step.readlink()
        if target.is_absolute():
            current = Path("/")
        left = [*(target.parts[1:] if target.is_absolute() else target.parts), *left]
    return current


def opened(real: Path) -> int:
    """A descriptor of a path that `resolved` returned; refused if part of it has become a link since."""
    look = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open("/", look)
    try:
        for part in real.parts[1:]:
            below = os.open(part, look, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = below
        if not stat.S_ISLNK(os.fstat(descriptor).st_mode):
            return descriptor
        raise NotADirectoryError(errno.ENOTDIR, "it became a link")
    except OSError as error:
        os.close(descriptor)
        raise AgentUnavailable(
            f"The sandbox can't show {str(real)!r}, which changed while it was being checked: "
            f"{error.strerror}. Try again."
        ) from error


@cache
def kernel_settings() -> tuple[str, ...]:
    """The entries of /proc about the whole machine, to be mounted read-only if the driver is root.

    Inside a user namespace made by root, files that belong to root can still be written.
    """
    found = []
    for name in sorted(os.listdir(_PROC)):  # noqa: PTH208 - names are enough
        path = f"{_PROC}/{name}"
        try:
            mode = os.lstat(path).st_mode
        except OSError:
            continue
        if not name.isdigit() and not stat.S_ISLNK(mode) and (stat.S_ISDIR(mode) or mode & 0o222):
            found.append(path)
    return tuple(found)


def private_to_root() -> tuple[tuple[str, bool], ...]:
    """Files and directories that no ordinary user may read, and whether each is a directory.

    Searched for each sandbox, since files like rotated logs come and go while a run goes on all night.
    """
    return tuple(found for top, depth in _OF_ROOT.items() for found in _unreadable(top, depth))


def _unreadable(folder: str, depth: int) -> Iterator[tuple[str, bool]]:
    try:
        entries = list(os.scandir(folder))
    except OSError:
        return
    for entry in entries:
        if entry.is_symlink():
            continue
        try:
            mode = entry.stat(follow_symlinks=False).st_mode
        except OSError:
            continue
        if stat.S_ISDIR(mode):
            if not mode & 0o005:
                yield entry.path, True
            elif depth > 1:
                yield from _unreadable(entry.path, depth - 1)
        elif stat.S_ISREG(mode) and not mode & 0o004:
            yield entry.path, False


def listening_sockets() -> list[Path]:
    """The files of all sockets that some process listens on: connecting needs no write access."""
    try:
        lines = _SOCKETS.read_text(errors="surrogateescape").splitlines()[1:]
    except OSError:
        return []
    fields = [line.split(maxsplit=_PATH_FIELD) for line in lines]
    paths = (each[_PATH_FIELD] for each in fields if len(each) > _PATH_FIELD)
    return [Path(path) for path in dict.fromkeys(paths) if path.startswith("/") and _is_socket(path)]


def _is_socket(path: str) -> bool:
    try:
        return stat.S_ISSOCK(os.lstat(path).st_mode)
    except OSError:
        return False


def inside_any(path: Path, places: Sequence[Path]) -> bool:
    """Whether a path is one of these places or below one, going by the text of the paths alone."""
    return any(place == path or place in path.parents for place in places)
