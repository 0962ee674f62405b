"""The journal file: one line per event, on disk before anything else happens."""

from __future__ import annotations

import errno
import os
from collections.abc import AsyncIterator, Sequence
from functools import cached_property
from io import FileIO
from pathlib import Path

import anyio

from untilgreen.core.values.events import Event, RunFinished
from untilgreen.crash_points import passing
from untilgreen.errors import JournalError
from untilgreen.journal.codec import End, decode, encode_all, seal
from untilgreen.journal.folder_changes import FolderChanges
from untilgreen.journal.fsync import sync_folder
from untilgreen.journal.reader import read

LOOK_SECONDS = 1.0
"""How often a follower polls: not every file system reports what others write."""


class FileJournal:
    """The events of one run, in a file that only one process at a time may write to."""

    def __init__(self, path: Path, end: End | None = None) -> None:
        """The file is created with the first event; `end` is the end of the events already known."""
        self.path = path
        self._end = end
        self._wrote = False
        self._refusal = ""

    @cached_property
    def _turn(self) -> anyio.Lock:
        """Made when needed, as it loads the event loop, which `append_now` does without."""
        return anyio.Lock(fast_acquire=True)

    @property
    def end(self) -> End:
        """Where the journal ended when this object last wrote or read it."""
        return self._end or self._read(End())[1]

    @property
    def head(self) -> str:
        """The latest hash this object has written or read; it covers all events so far."""
        return self.end.head

    async def append(self, *events: Event) -> None:
        async with self._turn:
            await anyio.to_thread.run_sync(self.append_now, *events)

    async def events(self) -> Sequence[Event]:
        async with self._turn:
            return await anyio.to_thread.run_sync(self.read_now)

    async def follow(self, after: int = 0) -> AsyncIterator[Event]:
        end = End()
        with FolderChanges(self.path.parent) as changes:
            while True:
                read = end.seq
                events, end = await anyio.to_thread.run_sync(self._read, end)
                for position, event in enumerate(events, read):
                    if position >= after:
                        yield event
                    if isinstance(event, RunFinished):
                        return
                await changes.wait(LOOK_SECONDS)

    def read_now(self) -> list[Event]:
        """Read all events and remember their end: later writes build on them."""
        events, end = self._read(End())
        if not self._wrote:
            self._end = end
        return events

    def _read(self, end: End) -> tuple[list[Event], End]:
        """The events after that end."""
        return read(self.path, end)

    def append_now(self, *events: Event) -> None:
        """The same as `append`, for a caller that has no event loop and is alone."""
        if self._refusal:
            raise JournalError(self._refusal)
        for event in events:
            passing("append", "before", type(event).__name__)
        end = self._read(End())[1] if self._end is None else self._end
        data, after = encode_all(events, end)
        try:
            with FileIO(os.fspath(self.path), "a+", opener=_going_on if end.size else _private) as file:
                self._check_end(file, end)
                self._write(file, data, end)
        except OSError as error:
            raise JournalError(
                f"{self.path} can't be written: {error.strerror}. Fix that and resume the run; "
                "what was recorded before is safe."
            ) from error
        self._end, self._wrote = after, True
        for event in events:
            passing("append", "after", type(event).__name__)

    def _check_end(self, file: FileIO, end: End) -> None:
        """The file must end where we left it; only a torn line may follow when writing begins."""
        last = seal(end.head) + b"\n" if end.size else b""
        file.seek(end.size - len(last))
        found = file.read(len(last))
        behind = file.read()
        if found == last and not behind:
            return
        torn = found == last and decode(behind, end, name=str(self.path))[1] == end
        if self._wrote or not torn:
            self._refuse("Another process has written to it, or it was changed.")
        file.truncate(end.size)

    def _write(self, file: FileIO, data: bytes, end: End) -> None:
        """Write all of it to disk, or nothing."""
        try:
            if file.write(data) != len(data):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(file.fileno())
            if not end.size:
                sync_folder(self.path.parent)
        except OSError:
            self._take_back(file, end)
            raise
        if file.tell() != end.size + len(data):
            self._refuse("Another process wrote to it at the same time.")

    def _take_back(self, file: FileIO, end: End) -> None:
        """Remove half-written events, so the next one can follow."""
        try:
            file.truncate(end.size)
            os.fsync(file.fileno())
        except OSError:
            self._refusal = self._sentence("An event was half written and could not be removed.")

    def _refuse(self, why: str) -> None:
        self._refusal = self._sentence(why)
        raise JournalError(self._refusal)

    def _sentence(self, why: str) -> str:
        return (
            f"{self.path} can no longer be written by this process. {why} Resume the run to continue from it."
        )


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _going_on(path: str, flags: int) -> int:
    """Without O_CREAT: a journal that is gone must not be started again in the middle."""
    return os.open(path, flags & ~os.O_CREAT)
