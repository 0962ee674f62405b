"""Commands as files: the driver of a run finds them in its inbox, and the sender gets an answer.

A command appears by a rename, so nobody sees half of one. It stays until its events are recorded; a driver
that dies in between leaves it to the next.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Awaitable, Callable
from contextlib import suppress
from itertools import count
from pathlib import Path

import anyio
import msgspec
from msgspec import Struct

from untilgreen.core.loop.receive import Arrival
from untilgreen.engine.store.atomic_file import put
from untilgreen.errors import JournalError, RunGone, UserError
from untilgreen.journal.folder_changes import FolderChanges
from untilgreen.journal.fsync import read_regular
from untilgreen.ports import Record

LARGEST = 1_000_000
"""Bytes; anything larger is not a command."""
LOOK_SECONDS = 0.5
"""How often a sender checks for its answer."""

_REPLIES = "replies"
_sent = count()
_arrivals = msgspec.json.Decoder(Arrival)


class _Reply(Struct, frozen=True, kw_only=True):
    refused: str = ""


_replies = msgspec.json.Decoder(_Reply)


async def take_all(record: Record, take: Callable[[Arrival], Awaitable[str]]) -> None:
    """Take every command in the inbox, in order; `take` returns why one is refused."""
    for letter, arrival in await record.arrived():
        await record.answered(letter, await take(arrival))


class Inbox:
    """The commands for one run."""

    def __init__(self, folder: Path, run: str) -> None:
        self.folder = folder
        self._run = run

    def send(self, arrival: Arrival) -> str:
        """Leave a command; returns its name, for `reply`."""
        data = _written(arrival)
        path = self.folder / _name(arrival.at)
        try:
            put(path, data)
        except OSError as error:
            if not self.folder.parent.exists():
                raise RunGone(self._run) from None
            raise JournalError(
                f"Nothing can be sent to run {self._run}: its inbox {self.folder} can't be written: "
                f"{error.strerror}. Fix that and send it again."
            ) from error
        return path.name

    def arrived(self) -> list[tuple[str, Arrival]]:
        """Commands, oldest first; a file that is not a command is set aside for a person to inspect."""
        try:
            paths = sorted(path for path in self.folder.iterdir() if _is_letter(path))
        except OSError:
            return []
        found = []
        for path in paths:
            arrival = _opened(path) if os.path.lexists(path) else None
            if arrival is not None:
                found.append((path.name, arrival))
            else:
                _set_aside(path)
        return found

    def answered(self, letter: str, refused: str) -> None:
        """Tell the sender why a command was refused, or nothing if it was accepted; then remove it."""
        put(self._replies() / letter, msgspec.json.encode(_Reply(refused=refused)))
        (self.folder / letter).unlink(missing_ok=True)

    def answer(self, letter: str) -> str | None:
        """Why the command was refused, empty if it was accepted; None as long as nobody has answered."""
        return _take(self._replies() / letter)

    async def reply(self, letter: str, seconds: float) -> str | None:
        """Why the command was refused, empty if it was accepted; None if nobody answered in time."""
        with anyio.move_on_after(seconds), FolderChanges(self._replies()) as changes:
            while True:
                text = await anyio.to_thread.run_sync(self.answer, letter)
                if text is not None:
                    return text
                await changes.wait(LOOK_SECONDS)
        return None

    def _replies(self) -> Path:
        folder = self.folder / _REPLIES
        with suppress(OSError):
            folder.mkdir(mode=0o700, exist_ok=True)
        return folder


def _set_aside(path: Path) -> None:
    with suppress(FileNotFoundError):  # it was taken meanwhile, or removed by a person
        path.replace(path.with_name(f"{path.name}.unreadable"))


def _written(arrival: Arrival) -> bytes:
    verb = type(arrival).__name__.lower()
    try:
        data = msgspec.json.encode(arrival)
    except UnicodeEncodeError as error:
        raise UserError(f"The text of the {verb} is not valid UTF-8. Write it in UTF-8.") from error
    if len(data) > LARGEST:
        raise UserError(f"The {verb} is too long: {len(data):,} bytes of {LARGEST:,}. Shorten it.")
    return data


def _name(at: float) -> str:
    """A unique name that sorts by time, then by the order of sending."""
    return f"{int(max(0.0, at) * 1e6):017d}-{next(_sent):06d}-{os.getpid()}-{os.urandom(4).hex()}.json"


def _is_letter(path: Path) -> bool:
    return path.suffix == ".json" and not path.name.startswith(".")


def _opened(path: Path) -> Arrival | None:
    try:
        found = path.lstat()
        if not stat.S_ISREG(found.st_mode) or found.st_size > LARGEST:
            return None
        arrival: Arrival = _arrivals.decode(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    return arrival


def _take(answer: Path) -> str | None:
    """The answer, once; reading removes it."""
    try:
        text = _replies.decode(read_regular(answer)).refused
    except (OSError, ValueError):
        return None
    answer.unlink(missing_ok=True)
    return text
