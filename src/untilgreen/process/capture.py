"""A child's output, without secrets: on disk up to a cap, both ends in memory, lines to a listener.

Each of the three takes bytes as they arrive and uses a bounded amount of memory, however long the output or
a single line.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

from untilgreen.core.values.secrets import Secrets, Strainer

KEPT_BYTES = 64_000_000
"""How much of an output one file keeps."""
ENDS_BYTES = 1_000_000
"""How much is returned as text."""
LONGEST_LINE = 1_000_000
_COPY_BYTES = 1 << 20


def left_out(count: int) -> str:
    """The note in place of omitted output."""
    return f"[… {count:,} bytes left out …]"


class CappedFile:
    """An output on disk; past the cap its middle is dropped, and the file says so.

    The file is created with the first byte, since creating one takes as long as starting most commands. The
    first half is written as it arrives. The rest goes through a ring buffer in a second file, which is
    appended in order at the end.
    """

    def __init__(self, path: Path, cap: int = KEPT_BYTES) -> None:
        self._head_room = cap // 2
        self._ring_size = cap - cap // 2
        self._later = 0
        self._path = path
        self._ring: BinaryIO | None = None
        self._file: BinaryIO | None = None
        path.unlink(missing_ok=True)

    def take(self, chunk: bytes) -> None:
        """Keep these bytes."""
        if self._file is None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._file = _private(self._path)
        head, rest = chunk[: self._head_room], chunk[self._head_room :]
        if head:
            self._head_room -= len(head)
            self._file.write(head)
            self._file.flush()
        if rest:
            self._circle(rest)

    def _circle(self, rest: bytes) -> None:
        if self._ring is None:
            self._ring = _private(self._ring_path())
        while rest:
            at = self._later % self._ring_size
            piece = rest[: self._ring_size - at]
            self._ring.seek(at)
            self._ring.write(piece)
            self._later += len(piece)
            rest = rest[len(piece) :]

    def _ring_path(self) -> Path:
        return self._path.with_name(f"{self._path.name}.tail")

    def close(self) -> None:
        """Append the tail in order."""
        if self._file is not None and self._ring is not None:
            dropped = self._later - self._ring_size
            oldest = self._later % self._ring_size
            if dropped > 0:
                self._file.write(f"\n{left_out(dropped)}\n".encode())
                _copy(self._ring, oldest, self._ring_size, self._file)
            _copy(self._ring, 0, oldest if dropped > 0 else self._later, self._file)
            self._ring.close()
            self._ring = None
            self._ring_path().unlink()
        if self._file is not None:
            self._file.close()


def _copy(ring: BinaryIO, start: int, end: int, file: BinaryIO) -> None:
    ring.seek(start)
    while start < end and (piece := ring.read(min(_COPY_BYTES, end - start))):
        file.write(piece)
        start += len(piece)


def _private(path: Path) -> BinaryIO:
    return open(path, "w+b", opener=lambda name, flags: os.open(name, flags, 0o600))


class HeadAndTail:
    """The beginning and the end of an output, in memory."""

    def __init__(self, cap: int = ENDS_BYTES) -> None:
        self._head = bytearray()
        self._head_room = cap // 2
        self._tail = bytearray()
        self._tail_cap = cap - cap // 2
        self._dropped = 0

    def take(self, chunk: bytes) -> None:
        """Keep what fits."""
        head, rest = chunk[: self._head_room], chunk[self._head_room :]
        self._head += head
        self._head_room -= len(head)
        self._tail += rest
        excess = len(self._tail) - self._tail_cap
        if excess > 0:
            del self._tail[:excess]
            self._dropped += excess

    def text(self) -> str:
        """Both ends, with a note of what was left out between them; invalid UTF-8 becomes �."""
        if not self._dropped:
            return (self._head + self._tail).decode(errors="replace")
        head, tail = (end.decode(errors="replace") for end in (self._head, self._tail))
        return f"{head}\n{left_out(self._dropped)}\n{tail}"


class Lines:
    """Passes an output to a listener line by line, without line endings; long lines are cut."""

    def __init__(self, listener: Callable[[str], None], longest: int = LONGEST_LINE) -> None:
        self._listener = listener
        self._longest = longest
        self._open = bytearray()
        self._dropped = 0

    def take(self, chunk: bytes) -> None:
        """Pass on the lines that are complete now."""
        first, last = chunk.find(b"\n"), chunk.rfind(b"\n")
        if first < 0:
            self._add(chunk)
            return
        self._add(chunk[:first])
        self._hand_over()
        if last > first:
            self._hand_over_all(chunk[first + 1 : last])
        self._add(chunk[last + 1 :])

    def close(self) -> None:
        """Pass on the last line if it has no line ending."""
        if self._open or self._dropped:
            self._hand_over()

    def _hand_over_all(self, lines: bytes) -> None:
        """No UTF-8 character contains a newline, so many lines can be decoded at once."""
        if len(lines) <= self._longest:
            for line in lines.decode(errors="replace").split("\n"):
                self._listener(line.removesuffix("\r"))
            return
        for piece in lines.split(b"\n"):
            self._add(piece)
            self._hand_over()

    def _add(self, piece: bytes) -> None:
        room = self._longest - len(self._open)
        self._open += piece[:room]
        self._dropped += max(0, len(piece) - room)

    def _hand_over(self) -> None:
        line = self._open.removesuffix(b"\r").decode(errors="replace")
        note = f" {left_out(self._dropped)}" if self._dropped else ""
        self._open = bytearray()
        self._dropped = 0
        self._listener(line + note)


class Output:
    """One output stream, passed to all of its consumers."""

    def __init__(
        self, keep: Path | None, listener: Callable[[str], None] | None, longest: int, secrets: Secrets
    ) -> None:
        self.ends = HeadAndTail()
        self._strainer = Strainer(secrets)
        self._kept = CappedFile(keep) if keep else None
        self._lines = Lines(listener, longest) if listener else None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pass_on(self._strainer.close())
        if self._kept:
            self._kept.close()
        if self._lines and error is None:
            self._lines.close()

    def take(self, chunk: bytes) -> None:
        """Take the next bytes; secrets are removed before anyone sees them."""
        self._pass_on(self._strainer.take(chunk))

    def _pass_on(self, chunk: bytes) -> None:
        if not chunk:
            return
        self.ends.take(chunk)
        if self._kept:
            self._kept.take(chunk)
        if self._lines:
            self._lines.take(chunk)
