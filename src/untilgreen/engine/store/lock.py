"""One driver for a run: a lock that the system releases when its owner dies, however it dies.

The lock file stays where it is: removing it would let two processes lock two files of the same name. Its text
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

from untilgreen.core.values.driver import Driver
from untilgreen.errors import JournalError, JournalLocked, RunGone
from untilgreen.journal.fsync import read_regular
from untilgreen.process.flock import is_free, lock

PATIENCE_SECONDS = 20.0
"""How long a driver waits for a holder without a name, which needs the lock only for a moment."""
LOOK_SECONDS = 0.01
_TRIES = 20_000


class _Owner(Struct, frozen=True, kw_only=True):
    """The process that drives a run, as noted in the lock file."""

    pid: int
    host: str
    since: str


def this_process(now: float) -> Driver:
    """The note about this process."""
    since = datetime.fromtimestamp(now, UTC).astimezone().isoformat(" ", "seconds")
    return Driver(place=platform.node(), pid=os.getpid(), since=since)


@contextmanager
def hold(path: Path, *, run: str, driver: Driver) -> Iterator[None]:
    """Hold the run's lock; `JournalLocked` names the process that has it."""
    with _opened(path, run) as descriptor:
        if not _acquire(descriptor):
            raise JournalLocked(_locked_error(run, _named_owner(path)))
        _check_there(descriptor, path, run)
        with _owner_note(descriptor, driver):
            yield


@asynccontextmanager
async def hold_when_free(path: Path, *, run: str, driver: Driver) -> AsyncIterator[None]:
    """The same, but waits for a command that holds the lock only briefly, to write to the journal."""
    import anyio  # noqa: PLC0415 - slow to load, and most callers only check locks

    with _opened(path, run) as descriptor:
        free = _acquire(descriptor)
        with anyio.move_on_after(PATIENCE_SECONDS):
            while not free and _named_owner(path) is None:
                await anyio.sleep(LOOK_SECONDS)
                free = _acquire(descriptor)
        if not free:
            raise JournalLocked(_locked_error(run, _named_owner(path)))
        _check_there(descriptor, path, run)
        with _owner_note(descriptor, driver):
            yield


@contextmanager
def hold_briefly(path: Path, *, run: str) -> Iterator[None]:
    """Keep drivers out for a moment, without a name, so the run does not count as driven."""
    with _opened(path, run) as descriptor:
        if not _acquire(descriptor):
            raise JournalLocked(_locked_error(run, _named_owner(path)))
        _check_there(descriptor, path, run)
        os.ftruncate(descriptor, 0)  # a driver that was killed has left its name
        yield


def owner(path: Path) -> Driver | None:
    """The current driver of the run, if any."""
    noted = _named_owner(path)
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
            f"The lock of run {run}, {path}, can't be opened: {error.strerror}. Fix that and try again."
        ) from error
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _acquire(descriptor: int) -> bool:
    """Try to lock it; a process that only checks the lock holds it for a moment, so try again then."""
    for _ in range(_TRIES):
        if lock(descriptor):
            return True
        if not is_free(descriptor):
            return False
    return False


def _check_there(descriptor: int, path: Path, run: str) -> None:
    """Raise `RunGone` if the last holder of the lock removed the run, with this file."""
    try:
        there = os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        there = False
    if not there:
        raise RunGone(run)


@contextmanager
def _owner_note(descriptor: int, driver: Driver) -> Iterator[None]:
    text = msgspec.json.encode(_Owner(pid=driver.pid, host=driver.place, since=driver.since)) + b"\n"
    os.ftruncate(descriptor, 0)
    os.write(descriptor, text)
    try:
        yield
    finally:
        os.ftruncate(descriptor, 0)


def _named_owner(path: Path) -> Driver | None:
    try:
        found = msgspec.json.decode(read_regular(path), type=_Owner)
    except (OSError, ValueError, RecursionError):
        return None
    return Driver(place=found.host, pid=found.pid, since=found.since)


def _locked_error(run: str, who: Driver | None) -> str:
    driver = f"process {who.pid} on {who.place} since {who.since}" if who else "another process"
    ways = f"Watch it with `untilgreen follow {run}`, or stop it with `untilgreen stop {run}`."
    return f"Run {run} is being driven by {driver}. {ways}"
