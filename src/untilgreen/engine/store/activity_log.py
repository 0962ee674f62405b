"""What agents showed while they worked: one file of lines for each attempt at a lap, read from any offset."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
from msgspec.structs import replace

from untilgreen.engine.store.scratch import numbered
from untilgreen.journal.fsync import open_regular
from untilgreen.ports import ShownActivity

LARGEST = 64_000_000
"""The most bytes of one file; later lines are dropped."""
PART = 1_000_000
"""Bytes to read at once; a reader continues from the returned offset."""
_TAIL = 64_000
_ENDING = ".shown.jsonl"
_decoder = msgspec.json.Decoder(ShownActivity)


class ActivityLog:
    """The activity of one run."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def add(self, shown: ShownActivity) -> None:
        """Append one line in one write, so that nobody reads half of it for long."""
        text = shown.activity.text.encode(errors="replace").decode()
        line = msgspec.json.encode(replace(shown, activity=replace(shown.activity, text=text))) + b"\n"
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        descriptor = os.open(self._path(shown.lap, shown.attempt), flags, 0o600)
        try:
            if os.fstat(descriptor).st_size + len(line) <= LARGEST:
                os.write(descriptor, line)
        finally:
            os.close(descriptor)

    def read(self, lap: int, attempt: int, offset: int) -> tuple[list[ShownActivity], int]:
        """The lines from that offset on, about a megabyte, and the offset after the last complete one.

        An offset below 0 counts from the end.
        """
        try:
            with open_regular(self._path(lap, attempt)) as file:
                if offset < 0:
                    start = max(0, os.fstat(file.fileno()).st_size + offset - 1)
                    file.seek(start)
                    offset = start + (len(file.readline()) if start else 0)
                file.seek(offset)
                data = file.read(PART)
                if len(data) == PART:
                    data += file.readline()
        except OSError:
            return [], max(0, offset)
        whole = data[: data.rfind(b"\n") + 1]
        return list(_decoded(whole)), offset + len(whole)

    def last(self) -> ShownActivity | None:
        """The newest line of all; None if nothing was shown yet."""
        try:
            path = max(self._folder.glob(f"*{_ENDING}"), key=lambda each: each.stat().st_mtime_ns)
            with open_regular(path) as file:
                file.seek(max(0, path.stat().st_size - _TAIL))
                data = file.read()
        except (OSError, ValueError):
            return None
        found = _decoded(data[: data.rfind(b"\n") + 1])
        return found[-1] if found else None

    def _path(self, lap: int, attempt: int) -> Path:
        return self._folder / f"{numbered(lap, attempt)}{_ENDING}"


def _decoded(data: bytes) -> list[ShownActivity]:
    """Skip an unreadable line: it is only shown to people, and nothing depends on it."""
    found = []
    for line in data.splitlines():
        try:
            found.append(_decoder.decode(line))
        except ValueError:
            continue
    return found
