"""A run in progress, for the program that started it: inspect it, send it commands."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
from msgspec.structs import replace

from untilgreen.core.loop.receive import AddLaps, Answer, Arrival, Cancel, Pause, Resume, Steer, Stop
from untilgreen.core.scoring.progress import Overview, progress
from untilgreen.core.values.events import Event
from untilgreen.core.values.state import RunState
from untilgreen.engine.driving.drive import DEFAULTS, DriveOptions, drive
from untilgreen.engine.driving.sending import deliver
from untilgreen.engine.loop.seat import Seat
from untilgreen.engine.store.run_folder import RunFolder
from untilgreen.engine.wiring.clock import SystemClock
from untilgreen.engine.worktree.place import Premises
from untilgreen.errors import UserError, only
from untilgreen.ports import Record

LIBRARY = "library"
"""The default author of a program's commands."""


class Handle:
    """One run: inspect it and send it commands; a refused command is a `UserError` that says why."""

    def __init__(self, record: Record, state: RunState, by: str = LIBRARY) -> None:
        self._record = record
        self._by = by
        self._over = anyio.Event()
        self.state = state
        """The latest state."""

    @property
    def run(self) -> str:
        """The run's id, as every command takes it."""
        return self._record.id

    @property
    def folder(self) -> Path:
        """Where everything about the run is kept."""
        if not isinstance(self._record, RunFolder):
            raise UserError(f"Run {self.run} is not stored in a folder on this machine.")
        return self._record.path

    def progress(self) -> Overview:
        """How far it has come, how fast it moves, what was fixed and what broke."""
        return progress(self.state)

    async def result(self) -> RunState:
        """Wait until the run is over, or can't continue from here."""
        await self._over.wait()
        return self.state

    async def stop(self, reason: str = "stopped by the program that started it") -> None:
        """End it after the current lap."""
        await self.send(Stop(at=_now(), by=self._by, reason=reason))

    async def cancel(self, reason: str = "cancelled by the program that started it") -> None:
        """End it now."""
        await self.send(Cancel(at=_now(), by=self._by, reason=reason))

    async def pause(self, reason: str = "paused by the program that started it") -> None:
        """Pause after the current turn until `go_on`."""
        await self.send(Pause(at=_now(), by=self._by, reason=reason))

    async def go_on(self) -> None:
        """End a pause."""
        await self.send(Resume(at=_now(), by=self._by))

    async def steer(self, note: str) -> None:
        """Tell the agent something with its next brief."""
        await self.send(Steer(at=_now(), by=self._by, id=secrets.token_hex(8), note=note))

    async def add_laps(self, laps: int) -> None:
        """Let it have more laps than it was started with."""
        await self.send(AddLaps(at=_now(), by=self._by, laps=laps))

    async def answer(self, choice: str, argument: str | None = None, note: str = "") -> None:
        """Answer the question that the run asks, as `state.asked` has it."""
        await self.send(Answer(at=_now(), by=self._by, choice=choice, argument=argument, note=note))

    async def send(self, arrival: Arrival) -> None:
        """Send an arrival, as the commands do."""
        if refused := await deliver(self._record, arrival):
            raise UserError(refused)

    def _end(self, state: RunState) -> None:
        self.state = state
        self._over.set()


@asynccontextmanager
async def drive_in_background(
    record: Record,
    premises: Premises,
    seat: Seat,
    options: DriveOptions = DEFAULTS,
    *,
    by: str = LIBRARY,
) -> AsyncIterator[Handle]:
    """Drive a run while the body runs; the block ends when both are done."""
    made: list[Handle] = []
    begun = anyio.Event()

    def know(state: RunState) -> Handle:
        if not made:
            made.append(Handle(record, state, by))
        made[0].state = state
        begun.set()
        return made[0]

    def hear(event: Event, state: RunState) -> None:
        know(state)

    async def go() -> None:
        end = await drive(record, premises, seat, replace(options, listeners=(hear, *options.listeners)))
        know(end)._end(end)

    try:
        async with anyio.create_task_group() as group:
            group.start_soon(go)
            await begun.wait()
            yield made[0]
    except BaseExceptionGroup as several:
        raise only(several) from several


def _now() -> float:
    return SystemClock().now()
