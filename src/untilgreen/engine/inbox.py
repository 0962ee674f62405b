"""Commands as files: whoever drives a run finds them in its inbox, and the sender hears the answer.

A command appears by a rename, so nobody sees half of one. It stays until its events are recorded; a driver
that dies in between leaves it to the next.
"""

from __future__ import annotations

import os
import secrets
import stat
from contextlib import suppress
from itertools import count
from pathlib import Path

import anyio
import msgspec
from anyio import to_thread
from msgspec import Struct

from untilgreen.core.receive import Arrival
from untilgreen.engine.store import RunFolder, put
from untilgreen.errors import JournalError, RunGone, UserError

LARGEST = 1_000_000
"""Bytes; whatever is larger is no command."""
POLL_SECONDS = 0.05

_REPLIES = "replies"
_sent = count()
_arrivals = msgspec.json.Decoder(Arrival)


class _Reply(Struct, frozen=True, kw_only=True):
    refused: str = ""


_replies = msgspec.json.Decoder(_Reply)


def send(folder: RunFolder, arrival: Arrival) -> Path:
    """Leave a command for whoever drives the run; the path is what `reply` needs to know."""
    data = _written(arrival)
    path = folder.inbox / _name(arrival.at)
    try:
        put(path, data)
    except OSError as error:
        if not folder.path.exists():
            raise RunGone(folder.id) from None
        raise JournalError(
            f"Nothing can be sent to run {folder.id}, its inbox {folder.inbox} can't be written: "
            f"{error.strerror}. Mend that and send it again."
        ) from error
    return path


def collect(folder: RunFolder) -> list[tuple[Path, Arrival | None]]:
    """What has arrived, oldest first; None in place of a file that is no command."""
    try:
        paths = sorted(path for path in folder.inbox.iterdir() if _is_letter(path))
    except OSError:
        return []
    return [(path, _opened(path)) for path in paths if os.path.lexists(path)]


def respond(path: Path, refused: str = "") -> None:
    """Tell the sender what came of a command; empty means that it was taken."""
    replies = path.parent / _REPLIES
    replies.mkdir(mode=0o700, exist_ok=True)
    put(replies / path.name, msgspec.json.encode(_Reply(refused=refused)))


def done(path: Path) -> None:
    """The command's events are recorded, so it goes."""
    path.unlink(missing_ok=True)


def set_aside(path: Path) -> Path:
    """Keep what is no command for people to look at, and out of the driver's way."""
    kept = path.with_name(f"{path.name}.unreadable")
    with suppress(FileNotFoundError):  # somebody took it away themselves
        path.replace(kept)
    return kept


async def reply(path: Path, seconds: float) -> str | None:
    """Why the command was refused, empty when it was taken; None when nobody answered in time."""
    answer = path.parent / _REPLIES / path.name
    with anyio.move_on_after(seconds):
        while True:
            text = await to_thread.run_sync(_take, answer)
            if text is not None:
                return text
            await anyio.sleep(POLL_SECONDS)
    return None


def _written(arrival: Arrival) -> bytes:
    verb = type(arrival).__name__.lower()
    try:
        data = msgspec.json.encode(arrival)
    except UnicodeEncodeError as error:
        raise UserError(f"The words of the {verb} are not all text. Write them in UTF-8.") from error
    if len(data) > LARGEST:
        raise UserError(f"The {verb} is too long: {len(data):,} bytes of {LARGEST:,}. Shorten it.")
    return data


def _name(at: float) -> str:
    """Sorted by time, then by the order of sending; unlike any other sender's."""
    return f"{int(max(0.0, at) * 1e6):017d}-{next(_sent):06d}-{os.getpid()}-{secrets.token_hex(4)}.json"


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
        text = _replies.decode(answer.read_bytes()).refused
    except (OSError, ValueError):
        return None
    answer.unlink(missing_ok=True)
    return text
