"""Reads and writes a repository's loose objects as git does: each in its own file, whole or not at all."""

from __future__ import annotations

import hashlib
import os
import secrets
import stat
import zlib
from contextlib import suppress
from pathlib import Path

BEING_WRITTEN = "tmp_obj_"
"""Prefix of files that are not complete yet; `git gc` removes those that a killed process left."""
SHA1_LENGTH = 40
_AS_A_FILE = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
"""An agent may have put a link or a pipe in place of an object."""
_SMALL = 100_000
_FASTEST = 1
"""The compression level that git uses for such files by default."""


def object_name(kind: bytes, content: bytes, length: int = SHA1_LENGTH) -> bytes:
    """The name of an object: its hash, with as many hexadecimal digits as the repository uses."""
    made = hashlib.sha1(usedforsecurity=False) if length == SHA1_LENGTH else hashlib.sha256()
    made.update(b"%s %d\0" % (kind, len(content)))
    made.update(content)
    return made.hexdigest().encode()


class LooseObjects:
    """The loose objects of a repository, each in a file of its own."""

    def __init__(self, folder: Path, object_format: str = "sha1") -> None:
        self._folder = os.fspath(folder)
        self.length = SHA1_LENGTH if object_format == "sha1" else 64

    def write(self, kind: bytes, content: bytes) -> bytes:
        """Store an object and return its name; as in git, one that exists already gets a new file time."""
        name = object_name(kind, content, self.length)
        target = self._file(name.decode())
        try:
            os.utime(target)
        except FileNotFoundError:
            packed = zlib.compress(b"%s %d\0%s" % (kind, len(content), content), _FASTEST)
            with suppress(FileExistsError):
                os.mkdir(os.path.dirname(target))  # noqa: PTH102, PTH120 - a lap does this for every changed file
            _put(packed, target)
        return name

    def read(self, kind: bytes, name: str) -> bytes | None:
        """A small object; None if git has to be asked: it is packed, larger, or does not match its name."""
        try:
            descriptor = os.open(self._file(name), os.O_RDONLY | _AS_A_FILE)
            try:
                packed = os.read(descriptor, _SMALL) if stat.S_ISREG(os.fstat(descriptor).st_mode) else b""
            finally:
                os.close(descriptor)
            head, _, content = zlib.decompressobj().decompress(packed, _SMALL).partition(b"\0")
        except (OSError, zlib.error):
            return None
        whole = (
            head == b"%s %d" % (kind, len(content)) and object_name(kind, content, len(name)) == name.encode()
        )
        return content if whole else None

    def has(self, name: str) -> bool:
        """Whether it is a loose object; if not, it may still be in a pack."""
        return os.path.exists(self._file(name))  # noqa: PTH110 - the same

    def _file(self, name: str) -> str:
        return f"{self._folder}/{name[:2]}/{name[2:]}"


def _put(data: bytes, target: str) -> None:
    beside = f"{os.path.dirname(target)}/{BEING_WRITTEN}{secrets.token_hex(8)}"  # noqa: PTH120 - the same
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), 0o444)
    try:
        with open(descriptor, "wb") as file:  # noqa: PTH123 - a descriptor
            file.write(data)
        os.replace(beside, target)  # noqa: PTH105 - text, not a path
    except OSError:
        with suppress(OSError):
            os.unlink(beside)  # noqa: PTH108 - the same
        raise
