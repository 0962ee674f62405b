"""One driver for a run: a lock that the system takes back when its owner dies, however it dies.

The lock file stays where it is: removing it would let two processes lock two files of one name. Its text
says who holds it, for people; only the lock itself decides. Python keeps the descriptor from child
processes, so an agent that outlives its driver does not hold the run.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from msgspec import Struct

from untilgreen.errors import JournalError, JournalLocked
from untilgreen.process.flock import is_free, lock

_TRIES = 20_000


class Owner(Struct, frozen=True, kw_only=True):
    """The process that drives a run, as it introduced itself."""

    pid: int
    host: str
    since: str


@contextmanager
def hold(path: Path, *, run: str, now: float) -> Iterator[None]:
    """Be the one who drives the run; `JournalLocked` says who does where that can't be."""
    descriptor = _open(path, run)
    try:
        if not _acquire(descriptor):
            raise JournalLocked(_occupied(run, _introduced(path)))
        _introduce(descriptor, now)
        try:
            yield
        finally:
            os.ftruncate(descriptor, 0)
    finally:
        os.close(descriptor)


def owner(path: Path) -> Owner | None:
    """Who drives the run at this moment; None where nobody does."""
    noted = _introduced(path)
    if noted is None:
        return None
    try:
        descriptor = os.open(path, os.O_RDWR)
    except FileNotFoundError:
        return None
    try:
        return None if is_free(descriptor) else noted
    finally:
        os.close(descriptor)


def _open(path: Path, run: str) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise JournalError(
            f"The lock of run {run} can't be opened, {path}: {error.strerror}. Mend that and try again."
        ) from error


def _acquire(descriptor: int) -> bool:
    """Who only looks is in the way for a moment, and no reason to give up."""
    for _ in range(_TRIES):
        if lock(descriptor):
            return True
        if not is_free(descriptor):
            return False
    return False


def _introduce(descriptor: int, now: float) -> None:
    since = datetime.fromtimestamp(now, UTC).astimezone().isoformat(" ", "seconds")
    text = msgspec.json.encode(Owner(pid=os.getpid(), host=platform.node(), since=since)) + b"\n"
    os.ftruncate(descriptor, 0)
    os.write(descriptor, text)


def _introduced(path: Path) -> Owner | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=Owner)
    except (OSError, ValueError, RecursionError):
        return None


def _occupied(run: str, who: Owner | None) -> str:
    driver = f"process {who.pid} on {who.host} since {who.since}" if who else "another process"
    return f"Run {run} is being driven by {driver}. Stop it with `untilgreen stop {run}`."
