"""Fold, ask, do, record: the one loop."""

from __future__ import annotations

import os
import socket
from collections.abc import Awaitable, Callable, Sequence

import anyio

from untilgreen import __version__
from untilgreen.core.loop.receive import Arrival, receive, refusal
from untilgreen.core.loop.step import CheckGates, Step, next_step, still_wanted
from untilgreen.core.values.events import Attached, Event, Interrupted, RunFinished
from untilgreen.core.values.model import Outcome
from untilgreen.core.values.state import RunState
from untilgreen.engine.loop.bus import Bus
from untilgreen.engine.loop.parts import Parts
from untilgreen.engine.loop.recorder import Recorder
from untilgreen.engine.loop.resumable_errors import resumable
from untilgreen.engine.loop.seat import Seat
from untilgreen.engine.loop.steps import perform
from untilgreen.errors import JournalError, UntilgreenError, only
from untilgreen.ports import Journal


class Runner:
    """Drives one run from wherever it stopped; driving is one idempotent call."""

    def __init__(
        self,
        journal: Journal,
        parts: Parts,
        seat: Seat,
        bus: Bus | None = None,
        state: RunState | None = None,
    ) -> None:
        """`state` is the fold of the journal, if the holder of its lock has already read it."""
        self.parts = parts
        self.seat = seat
        self.bus = bus or Bus()
        self._recorder = Recorder(journal, parts.secrets, self.bus, state)
        self._under_way: tuple[Step, anyio.CancelScope] | None = None
        self.attached = False
        """Whether this runner has started to drive, so that it can take arrivals."""

    @property
    def state(self) -> RunState:
        """The current state."""
        return self._recorder.state

    async def drive(self, begin: Callable[[], Awaitable[None]] | None = None) -> RunState:
        """Continue until the run is over or the seat can do no more; `begin` runs before the first step."""
        if (await self._recorder.load()).outcome is not None:
            return self.state
        try:
            await self._attach()
            if begin is not None:
                await begin()
            while (step := next_step(self.state)) and self.seat.takes(step, self.parts.clock.now()):
                await self._take(step)
        except JournalError:
            raise
        except Exception as error:
            cause = only(error)
            if (trouble := resumable(cause, self.state.run)) is not None:
                raise trouble from cause
            await self._crashed(cause)
            raise cause from cause.__cause__  # not from the group, which may be the cause itself
        return self.state

    async def record(self, event: Event) -> None:
        """Record an event; returns once it is on disk and published, even if this call is cancelled."""
        wrote = await self._recorder.record(lambda _: (event,))
        if wrote and self._under_way is not None and isinstance(self._under_way[0], CheckGates):
            self._look_up()  # one gate's verdict may make the others unnecessary

    async def receive(self, arrival: Arrival, *, accepted: bool = False) -> str:
        """Take an arrival, even in the middle of a step; returns why it was refused."""
        why_not = ""

        def events_at(state: RunState) -> Sequence[Event]:
            nonlocal why_not
            why_not = "" if accepted else refusal(state, arrival)
            return () if why_not else receive(state, arrival)

        await self._recorder.record(events_at)
        self._look_up()
        return why_not

    async def interrupt(self, signal: str) -> None:
        """Stop driving: the current step is cancelled, the run stays open."""

        def events_at(state: RunState) -> Sequence[Event]:
            open_here = state.outcome is None and state.away is None
            return (Interrupted(at=self.parts.clock.now(), signal=signal),) if open_here else ()

        await self._recorder.record(events_at)
        self._look_up()

    def _look_up(self) -> None:
        """Cancel the current step if it is no longer wanted."""
        if self._under_way is not None and not still_wanted(self._under_way[0], self.state):
            self._under_way[1].cancel()

    async def _take(self, step: Step) -> None:
        """Do one step; it is cancelled as soon as the state no longer asks for it."""
        before = self._recorder.written
        with anyio.CancelScope() as scope:
            self._under_way = (step, scope)
            try:
                await perform(step, self)
            finally:
                self._under_way = None
        if self._recorder.written == before and still_wanted(step, self.state):
            raise UntilgreenError(f"The step {type(step).__name__} recorded nothing and would repeat.")

    async def _attach(self) -> None:
        await self.record(
            Attached(
                at=self.parts.clock.now(),
                seat=self.seat.name,
                session=self.seat.session,
                answers=self.seat.answers,
                pid=os.getpid(),
                host=socket.gethostname(),
                version=__version__,
                place=self.parts.place,
            )
        )
        self.attached = True

    async def _crashed(self, error: BaseException) -> None:
        """Record a bug in untilgreen or in a plugin, once; the state is kept."""
        if self.state.outcome is None:
            reason = str(error) if isinstance(error, UntilgreenError) else f"{type(error).__name__}: {error}"
            await self.record(RunFinished(at=self.parts.clock.now(), outcome=Outcome.CRASHED, reason=reason))
