"""One driver for a run: a lock that the system takes back when its owner dies, however it dies.

The lock file stays where it is: removing it would let two processes lock two files of one name. Its text
says who holds it, for people; only the lock itself decides. Python keeps the descriptor from child
processes, so an agent that outlives its driver does not hold the run.
"""

from __future__ import annotations

import os
import platform
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from msgspec import Struct

from untilgreen.errors import JournalError, JournalLocked, RunGone
from untilgreen.process.flock import is_free, lock

PATIENCE_SECONDS = 20.0
"""How long a driver waits for whoever holds the lock without a name: it is done in a moment."""
LOOK_SECONDS = 0.01
_TRIES = 20_000


class Owner(Struct, frozen=True, kw_only=True):
    """The process that drives a run, as it introduced itself."""

    pid: int
    host: str
    since: str


@contextmanager
def hold(path: Path, *, run: str, now: float) -> Iterator[None]:
    """Be the one who drives the run; `JournalLocked` says who does where that can't be."""
    with _opened(path, run) as descriptor:
        if not _acquire(descriptor):
            raise JournalLocked(_occupied(run, _introduced(path)))
        _check_there(descriptor, path, run)
        with _introduction(descriptor, now):
            yield


@asynccontextmanager
async def driving(path: Path, *, run: str, now: float) -> AsyncIterator[None]:
    """The same, after whoever is there for a moment only: a command that leaves a word in the journal."""
    import anyio  # noqa: PLC0415 - slow to load, and who only looks at locks does not wait

    with _opened(path, run) as descriptor:
        free = _acquire(descriptor)
        with anyio.move_on_after(PATIENCE_SECONDS):
            while not free and _introduced(path) is None:
                await anyio.sleep(LOOK_SECONDS)
                free = _acquire(descriptor)
        if not free:
            raise JournalLocked(_occupied(run, _introduced(path)))
        _check_there(descriptor, path, run)
        with _introduction(descriptor, now):
            yield


@contextmanager
def borrow(path: Path, *, run: str) -> Iterator[None]:
    """Keep drivers out for a moment, without a name: nobody takes that for a run that is driven."""
    with _opened(path, run) as descriptor:
        if not _acquire(descriptor):
            raise JournalLocked(_occupied(run, _introduced(path)))
        _check_there(descriptor, path, run)
        os.ftruncate(descriptor, 0)  # a driver that was killed has left its name
        yield


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


@contextmanager
def _opened(path: Path, run: str) -> Iterator[int]:
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except FileNotFoundError:
        raise RunGone(run) from None
    except OSError as error:
        raise JournalError(
            f"The lock of run {run} can't be opened, {path}: {error.strerror}. Mend that and try again."
        ) from error
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _acquire(descriptor: int) -> bool:
    """Who only looks is in the way for a moment, and no reason to give up."""
    for _ in range(_TRIES):
        if lock(descriptor):
            return True
        if not is_free(descriptor):
            return False
    return False


def _check_there(descriptor: int, path: Path, run: str) -> None:
    """Whoever held the lock before may have removed the run, with this file."""
    try:
        there = os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        there = False
    if not there:
        raise RunGone(run)


@contextmanager
def _introduction(descriptor: int, now: float) -> Iterator[None]:
    since = datetime.fromtimestamp(now, UTC).astimezone().isoformat(" ", "seconds")
    text = msgspec.json.encode(Owner(pid=os.getpid(), host=platform.node(), since=since)) + b"\n"
    os.ftruncate(descriptor, 0)
    os.write(descriptor, text)
    try:
        yield
    finally:
        os.ftruncate(descriptor, 0)


def _introduced(path: Path) -> Owner | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=Owner)
    except (OSError, ValueError, RecursionError):
        return None


def _occupied(run: str, who: Owner | None) -> str:
    driver = f"process {who.pid} on {who.host} since {who.since}" if who else "another process"
    return f"Run {run} is being driven by {driver}. Stop it with `untilgreen stop {run}`."
