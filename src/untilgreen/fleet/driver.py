"""One drive in its own process: commands on stdin, news on stdout; exits when its worker is gone."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import anyio
from anyio import from_thread, lowlevel

from untilgreen.core.loop.receive import Cancel
from untilgreen.core.loop.step import AwaitAnswer, AwaitResume, Halt, Wait, next_step
from untilgreen.core.values.events import Event
from untilgreen.core.values.state import RunState
from untilgreen.engine.driving.drive import DriveOptions, drive
from untilgreen.errors import (
    JournalDamaged,
    JournalError,
    JournalLocked,
    JournalTaken,
    RunGone,
    UntilgreenError,
)
from untilgreen.fleet.failures import failed
from untilgreen.fleet.requirements import lacks
from untilgreen.fleet.runs.premises import Machine, RemotePremises
from untilgreen.fleet.runs.record import PostgresRecord
from untilgreen.fleet.runs.records import PostgresRecords
from untilgreen.fleet.runs.undriven import settle, told_to_end
from untilgreen.fleet.seat import fleet_seat
from untilgreen.fleet.temporal.orders import Order, Rest
from untilgreen.journal.postgres.database import DatabaseAway
from untilgreen.journal.postgres.journal import Token
from untilgreen.ports import LoadedRun

OVER, OVERTAKEN, AGAIN, UNFIT, ELSEWHERE = 0, 10, 11, 12, 13
"""Exit codes of a driver: the run rests; overtaken; worth another attempt; impossible anywhere; only here."""
NOT_THE_RUNS = (JournalTaken, JournalLocked, JournalDamaged, RunGone, DatabaseAway)
"""Failures that can't be recorded in the run; Temporal tries again, or the run is stranded."""
BEAT_SECONDS = 1.0


class LeftToAnother(UntilgreenError):
    """This machine lacks what the run needs, so it does not take it."""


@dataclass
class Commands:
    """What the worker tells its driver."""

    drain: bool = False
    leave: anyio.Event = field(default_factory=anyio.Event)
    cancel: anyio.Event = field(default_factory=anyio.Event)

    def take(self, word: str) -> None:
        """Handle one line from the worker; the end of input is a command to leave."""
        match word:
            case "drain":
                self.drain = True
            case "cancel":
                self.cancel.set()
            case _:
                self.leave.set()


async def drive_run(order: Order, token: Token, machine: Machine, url: str, say: Callable[..., None]) -> Rest:
    """Take the run, continue it, and return where it was left."""
    records = PostgresRecords(url)
    record = records.record(order.run, token, place=machine.name, deaf=order.deaf)
    commands = Commands()
    premises = RemotePremises(machine, record, lambda words: say(warning=words))
    seat = fleet_seat(order.patience, lambda: commands.drain)
    latest = _Latest(record)
    options = DriveOptions(listeners=[latest.hear], leave=commands.leave)
    try:
        before = (await record.load()).state
        if order.cancel:
            await record.send(_cancel())
        if missing := lacks(before.plan):
            if await told_to_end(record) and (ended := await settle(record)) and ended.outcome is not None:
                return Rest(kind="over", outcome=str(ended.outcome), place=machine.name)
            raise LeftToAnother(f"This machine lacks {', '.join(missing)}.")
        try:
            async with _heard(commands), _beating(say, latest), _cancelled_by(commands, record):
                state = await drive(record, premises, seat, options)
        except Exception as error:
            cause = first_cause(error)
            if isinstance(cause, NOT_THE_RUNS):
                raise cause from error
            _log(cause, say)
            return await failed(record, order, before, machine.name, cause)
        loaded = await record.load()
        await record.note(loaded.state)
        return _rest(loaded, state, machine)
    finally:
        records.database.close()


class _Latest:
    """The status of the run, for lists: written at most once per beat, without delaying the drive."""

    def __init__(self, record: PostgresRecord) -> None:
        self._record = record
        self._state: RunState | None = None

    def hear(self, event: Event, state: RunState) -> None:
        """Remember the run's state after an event."""
        self._state = state

    async def note(self) -> None:
        """Write the latest status; if the database is down, leave it to the one after the next event."""
        state, self._state = self._state, None
        if state is not None:
            with suppress(JournalError):
                await self._record.note(state, patience=0)


@asynccontextmanager
async def _heard(commands: Commands) -> AsyncIterator[None]:
    token = lowlevel.current_token()

    def read() -> None:
        with suppress(Exception):  # an event loop that has ended takes no calls
            for line in sys.stdin:
                from_thread.run_sync(commands.take, line.strip(), token=token)
            from_thread.run_sync(commands.take, "leave", token=token)

    threading.Thread(target=read, daemon=True).start()
    yield


@asynccontextmanager
async def _beating(say: Callable[..., None], latest: _Latest) -> AsyncIterator[None]:
    """Signs of life: a worker that gets none considers its driver hung, and stops its heartbeats."""

    async def beat() -> None:
        while True:
            say(beat=1)
            await anyio.sleep(BEAT_SECONDS)

    async def note() -> None:
        while True:
            await anyio.sleep(BEAT_SECONDS)
            await latest.note()

    async with anyio.create_task_group() as group:
        group.start_soon(beat)
        group.start_soon(note)
        yield
        group.cancel_scope.cancel()


@asynccontextmanager
async def _cancelled_by(commands: Commands, record: PostgresRecord) -> AsyncIterator[None]:
    """A cancel from Temporal becomes a command to the run."""

    async def cancel() -> None:
        await commands.cancel.wait()
        await record.send(_cancel())

    async with anyio.create_task_group() as group:
        group.start_soon(cancel)
        yield
        group.cancel_scope.cancel()


def _cancel() -> Cancel:
    return Cancel(at=time.time(), by="temporal", reason="cancelled through Temporal")


def _rest(loaded: LoadedRun, state: RunState, machine: Machine) -> Rest:
    rest = Rest(kind="left", seq=loaded.seq, place=machine.name)
    if state.outcome is not None:
        return replace(rest, kind="over", outcome=str(state.outcome))
    match next_step(state):
        case Wait(until=until):
            return replace(rest, kind="waits", until=until)
        case AwaitAnswer(until=until):
            return replace(rest, kind="asks", until=until)
        case AwaitResume():
            return replace(rest, kind="paused")
        case Halt() if state.away is None:
            return replace(rest, kind="halted")
        case _:
            return rest


def first_cause(error: BaseException) -> BaseException:
    """The error to report: several things fail at once when a run is taken over, and that is the cause."""
    if isinstance(error, BaseExceptionGroup):
        parts = [first_cause(each) for each in error.exceptions]
        return next((each for each in parts if isinstance(each, JournalTaken)), parts[0])
    return error


def exit_code(cause: BaseException) -> int:
    """The exit code that says whether another attempt is worth it."""
    if isinstance(cause, JournalTaken | JournalLocked):
        return OVERTAKEN
    if isinstance(cause, LeftToAnother):
        return ELSEWHERE
    return UNFIT if isinstance(cause, JournalDamaged | RunGone) else AGAIN


async def main(order: Order, token: Token, machine: Machine, url: str) -> int:
    """Drive a run, and report how it went."""
    try:
        rest = await drive_run(order, token, machine, url, say)
    except BaseException as error:
        cause = first_cause(error)
        _log(cause, say)
        return exit_code(cause)
    say(rest=asdict(rest))
    return OVER


def _log(cause: BaseException, say: Callable[..., None]) -> None:
    """Why a drive failed, for the worker's log."""
    if not isinstance(cause, UntilgreenError | OSError):
        import traceback  # noqa: PLC0415 - for defects only

        traceback.print_exception(cause)
    say(failed=f"{type(cause).__name__}: {cause}")


def say(**facts: object) -> None:
    """Send one line to the worker, if it is still there."""
    with suppress(OSError, ValueError):
        sys.stdout.write(json.dumps(facts) + "\n")
        sys.stdout.flush()


def run_order(given: bytes) -> int:
    """Carry out an order in a fresh driver; returns its exit code."""
    told = json.loads(given)
    machine = Machine(Path(told["cache"]))
    code = anyio.run(main, Order(**told["order"]), tuple(told["token"]), machine, told["url"])
    say(code=code)
    return code


def leave_at_once(code: int) -> None:
    """Exit without finalizing the interpreter: threads of libraries may still run."""
    with suppress(OSError):  # its worker is gone
        sys.stdout.flush()
    os._exit(code)
