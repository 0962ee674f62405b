"""A run that is under way, for whoever started it: how far it is, and what it can be told."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import anyio

from untilgreen.core.events import Event
from untilgreen.core.progress import Overview, progress
from untilgreen.core.receive import Answer, Arrival, Cancel, Pause, Resume, Steer, Stop
from untilgreen.core.state import RunState
from untilgreen.engine.bus import Listener
from untilgreen.engine.clock import SystemClock
from untilgreen.engine.drive import AS_USUAL, Own, drive, state_of
from untilgreen.engine.files import Watcher
from untilgreen.engine.mail import deliver
from untilgreen.engine.seat import UNATTENDED, Seat
from untilgreen.engine.store import RunFolder, Store
from untilgreen.errors import UserError, only

LIBRARY = "library"
"""Whose word it is, where nobody says otherwise."""


class Handle:
    """One run: look at it, and tell it something; what it refuses is a `UserError` that says why."""

    def __init__(self, folder: RunFolder, state: RunState, by: str = LIBRARY) -> None:
        self._folder = folder
        self._by = by
        self._over = anyio.Event()
        self.state = state
        """All that is known now."""

    @property
    def run(self) -> str:
        """The run's id, as every command takes it."""
        return self._folder.id

    @property
    def folder(self) -> Path:
        """Where everything about the run is kept."""
        return self._folder.path

    def progress(self) -> Overview:
        """How far it is, how fast it moves, what was fixed and what broke."""
        return progress(self.state)

    async def result(self) -> RunState:
        """Wait until the run is over, or can't go on from here."""
        await self._over.wait()
        return self.state

    async def stop(self, reason: str = "stopped by the program that started it") -> None:
        """End it after the lap under way."""
        await self.send(Stop(at=_now(), by=self._by, reason=reason))

    async def cancel(self, reason: str = "cancelled by the program that started it") -> None:
        """End it now."""
        await self.send(Cancel(at=_now(), by=self._by, reason=reason))

    async def pause(self, reason: str = "paused by the program that started it") -> None:
        """Start no further turn until `go_on`."""
        await self.send(Pause(at=_now(), by=self._by, reason=reason))

    async def go_on(self) -> None:
        """End a pause."""
        await self.send(Resume(at=_now(), by=self._by))

    async def steer(self, note: str) -> None:
        """Tell the agent something with its next brief."""
        await self.send(Steer(at=_now(), by=self._by, id=secrets.token_hex(8), note=note))

    async def answer(self, choice: str, argument: str | None = None, note: str = "") -> None:
        """Answer the question that the run asks, as `state.asked` has it."""
        await self.send(Answer(at=_now(), by=self._by, choice=choice, argument=argument, note=note))

    async def send(self, arrival: Arrival) -> None:
        """Hand something over, as the commands do."""
        if refused := await deliver(self._folder, arrival):
            raise UserError(refused)

    def _hear(self, event: Event, state: RunState) -> None:
        self.state = state

    def _end(self, state: RunState) -> None:
        self.state = state
        self._over.set()


@dataclass(frozen=True, kw_only=True)
class Ride:
    """How a run is driven: from which seat, and who hears of it."""

    seat: Seat = UNATTENDED
    by: str = LIBRARY
    listeners: Sequence[Listener] = ()
    watchers: Sequence[Watcher] = ()
    signals: bool = False
    """Whether Ctrl-C and its like save the run and leave."""
    warn: Callable[[str], None] = field(default=lambda sentence: None)
    own: Own = AS_USUAL


@asynccontextmanager
async def driven(folder: RunFolder, store: Store, ride: Ride) -> AsyncIterator[Handle]:
    """Drive a run beside the body; the block is left when both are done.

    This is the one way in which runs are driven: by the command line, by programs, by tests.
    """
    handle = Handle(folder, await state_of(folder), ride.by)
    begun = anyio.Event()

    def hear(event: Event, state: RunState) -> None:
        handle._hear(event, state)
        begun.set()

    async def go() -> None:
        try:
            state = await drive(
                folder,
                store,
                ride.seat,
                listeners=(hear, *ride.listeners),
                watchers=ride.watchers,
                signals=ride.signals,
                warn=ride.warn,
                own=ride.own,
            )
            handle._end(state)
        finally:
            begun.set()

    try:
        async with anyio.create_task_group() as group:
            group.start_soon(go)
            await begun.wait()
            yield handle
    except BaseExceptionGroup as several:
        raise only(several) from several


def _now() -> float:
    return SystemClock().now()
