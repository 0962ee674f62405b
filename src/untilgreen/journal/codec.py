"""Encodes events as lines, chained by hashes so that any changed bit is noticed.

Line 1 is the format: `{"format":"untilgreen-journal/1","hash":"…"}`. Every further line is one event:
`{"seq":N,"event":{…},"hash":"…"}`. A hash covers the hash before it and its line up to `,"hash":`, so
`b2sum --length=128` can check a journal too.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

import msgspec
from msgspec import Struct

from untilgreen.core.values.events import Event
from untilgreen.errors import JournalDamaged, JournalError, UserError
from untilgreen.regex import regex

FORMAT = "untilgreen-journal/1"

_FAMILY = FORMAT.rpartition("/")[0] + "/"
_HASH_BYTES = 16
_SEAL = b',"hash":"%b"}'
_SEAL_SIZE = len(_SEAL % bytes(2 * _HASH_BYTES))
_SEALED = regex(rb',"hash":"[0-9a-f]{%d}"\}' % (2 * _HASH_BYTES))
_KEEP = "Restore the file from a backup, or start a new run."


class End(Struct, frozen=True, kw_only=True):
    """Where a journal ends: its number of events and bytes, and its latest hash."""

    seq: int = 0
    size: int = 0
    head: str = ""

    @property
    def line(self) -> int:
        """The number of the next line."""
        return self.seq + 2 if self.size else 1


class _Header(Struct, frozen=True):
    format: str


class _Line(Struct, frozen=True):
    seq: int
    event: Event


_headers = msgspec.json.Decoder(_Header)
_lines = msgspec.json.Decoder(_Line)


def encode(event: Event, end: End) -> tuple[bytes, End]:
    """The bytes that append an event at that end, and the new end."""
    data = b""
    if not end.size:
        data, end = _closed(b'{"format":"%b"' % FORMAT.encode(), end)
    line, after = _closed(b'{"seq":%d,"event":%b' % (end.seq + 1, _written(event)), end)
    return data + line, End(seq=end.seq + 1, size=after.size, head=after.head)


def encode_all(events: Iterable[Event], end: End) -> tuple[bytes, End]:
    """The same for several events, one after another."""
    lines = list[bytes]()
    for event in events:
        line, end = encode(event, end)
        lines.append(line)
    return b"".join(lines), end


def decode(data: bytes, end: End = End(), *, name: str = "the journal") -> tuple[list[Event], End]:  # noqa: B008 - frozen
    """The events after an end, and the new end; anything after that is a torn line.

    A last line without its newline never happened. Every other line must be exactly as written.
    """
    *lines, tail = data.split(b"\n")
    seq, size, head, events = end.seq, end.size, end.head, []
    for line in lines:
        here = End(seq=seq, size=size, head=head)
        if size:
            seq += 1
            head = _checked(line, here, name)
            events.append(_read(line, here, name))
        else:
            head = _opened(line, here, name)
        size += len(line) + 1
    after = End(seq=seq, size=size, head=head)
    _check_tail(tail, after, name)
    return events, after


def seal(head: str) -> bytes:
    """How the line with this hash ends, without the newline."""
    return _SEAL % head.encode()


def _written(event: Event) -> bytes:
    """The event as JSON, checked to be readable: better to fail now than when the run is resumed."""
    kind = type(event).__name__
    try:
        text = msgspec.json.encode(event)
        _lines.decode(b'{"seq":0,"event":%b}' % text)
    except (TypeError, ValueError, msgspec.MsgspecError, UserError, RecursionError) as error:
        raise JournalError(
            f"The event {kind} can't be written to the journal: {error}. Fix the plugin that made its values."
        ) from error
    return text


def _closed(body: bytes, end: End) -> tuple[bytes, End]:
    head = _hash(body, end.head)
    line = body + _SEAL % head.encode() + b"\n"
    return line, End(seq=end.seq, size=end.size + len(line), head=head)


def _hash(body: bytes, before: str) -> str:
    return blake2b(before.encode() + body, digest_size=_HASH_BYTES).hexdigest()


def _checked(line: bytes, here: End, name: str) -> str:
    """Check a line against the chain, and return its hash."""
    expected = _hash(line[:-_SEAL_SIZE], here.head)
    if line[-_SEAL_SIZE:] != seal(expected):
        raise _damaged(here, name, f"it should end with the hash {expected}")
    return expected


def _opened(line: bytes, here: End, name: str) -> str:
    """Check the first line and its format, and return its hash."""
    try:
        written = _headers.decode(line).format
    except (ValueError, RecursionError) as error:
        raise _damaged(here, name, f'it should say "format":"{FORMAT}"') from error
    if written != FORMAT and written.startswith(_FAMILY):
        raise JournalError(
            f"{name} has format {written.removeprefix(_FAMILY)!r}, and this untilgreen reads format "
            f"{FORMAT.removeprefix(_FAMILY)!r}. A newer untilgreen wrote it: update to read it."
        )
    return _checked(line, here, name)


def _read(line: bytes, here: End, name: str) -> Event:
    """The event of a line whose hash is right; if it can't be read, a newer version wrote it."""
    try:
        read = _lines.decode(line)
    except (msgspec.ValidationError, UserError) as error:
        raise JournalError(
            f"Line {here.line} of {name} is intact but contains an event that this untilgreen does not know: "
            f"{error}. A newer untilgreen wrote it: update to read it."
        ) from error
    except (ValueError, RecursionError) as error:
        raise _damaged(here, name, f"it should be JSON ({error})") from error
    if read.seq != here.seq + 1:
        raise _damaged(here, name, f"it should have number {here.seq + 1}, but has {read.seq}")
    return read.event


def _check_tail(tail: bytes, here: End, name: str) -> None:
    """A torn line is incomplete. One that continues where its newline should be was damaged."""
    for found in _SEALED.finditer(tail):
        if found.end() < len(tail) and found[0] == seal(_hash(tail[: found.start()], here.head)):
            raise _damaged(here, name, "it should end with a newline")


def _damaged(here: End, name: str, expected: str) -> JournalDamaged:
    return JournalDamaged(f"Line {here.line} of {name} is not what was written: {expected}. {_KEEP}")
