"""Copies files that snapshots don't contain, sharing blocks if possible, up to a total size."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

LARGEST = 2_000_000_000
"""How many bytes are copied into one room; files that share their blocks cost nothing."""
_CLONE = 0x40049409
"""The ioctl of Linux that lets two files share their blocks until one is written."""


def too_much(room: Path, top: Path, shown: Collection[str]) -> bool:
    """Whether a room would lack something, because there is too much to copy and blocks can't be shared."""
    sizes = (size for path in shown if not path.startswith("/") for size in _sizes(top / path.rstrip("/")))
    total = 0
    for size in sizes:
        total += size
        if total > LARGEST:
            return not _can_share(room, top)
    return False


def _sizes(place: Path) -> Iterator[int]:
    with suppress(OSError):
        found = place.lstat()
        if stat.S_ISREG(found.st_mode):
            yield found.st_size
        elif stat.S_ISDIR(found.st_mode):
            for entry in list(os.scandir(place)):
                if entry.is_dir(follow_symlinks=False):
                    yield from _sizes(Path(entry))
                elif entry.is_file(follow_symlinks=False):
                    yield entry.stat(follow_symlinks=False).st_size


def _can_share(room: Path, top: Path) -> bool:
    """Whether files in the room can share blocks with the workspace; tested with files next to the room."""
    if room.stat().st_dev != top.stat().st_dev:
        return False
    with TemporaryDirectory(dir=room.parent) as folder:
        one, other = Path(folder, "one"), Path(folder, "other")
        one.write_bytes(b"shared\n")
        with one.open("rb") as old, other.open("xb") as new:
            return _share(old.fileno(), new.fileno())


class Copier:
    """Copies unkept paths into a room, except what is hidden in them."""

    def __init__(self, top: Path, room: Path, hidden: frozenset[str]) -> None:
        self._top = top
        self._room = room
        self._hidden = hidden
        self._left = LARGEST
        self._shares = _can_share(room, top)
        self.too_large: list[str] = []

    def copy(self, path: str) -> None:
        """One file, or a directory with everything below it."""
        if path in self._hidden or path.startswith("/"):
            return
        source, target = self._top / path.rstrip("/"), self._room / path.rstrip("/")
        if path.endswith("/"):
            self._copy_directory(path, source, target)
            return
        with suppress(OSError):
            found = source.lstat()
            if stat.S_ISREG(found.st_mode) and found.st_size > self._left and not self._shares:
                self.too_large.append(path)
                return
            target.parent.mkdir(parents=True, exist_ok=True)
            if target.exists() or target.is_symlink():
                return
            if stat.S_ISLNK(found.st_mode):
                target.symlink_to(source.readlink())
            elif stat.S_ISREG(found.st_mode):
                _copy_file(source, target)
                self._left -= found.st_size

    def _copy_directory(self, path: str, source: Path, target: Path) -> None:
        try:
            entries = list(os.scandir(source))
        except OSError:
            return
        target.mkdir(parents=True, exist_ok=True)
        for entry in entries:
            self.copy(f"{path}{entry.name}" + ("/" if entry.is_dir(follow_symlinks=False) else ""))
        shutil.copystat(source, target, follow_symlinks=False)


def _copy_file(source: Path, target: Path) -> None:
    with source.open("rb") as old, target.open("xb") as new:
        if not _share(old.fileno(), new.fileno()):
            shutil.copyfileobj(old, new, 1 << 20)
    shutil.copystat(source, target)


def _share(old: int, new: int) -> bool:
    try:
        import fcntl  # noqa: PLC0415 - not there on Windows

        fcntl.ioctl(new, _CLONE, old)
    except (ImportError, OSError):
        return False
    return True
