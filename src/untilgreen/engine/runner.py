"""Fold, ask, do, record: the one loop."""

from __future__ import annotations

import os
import socket

import anyio

from untilgreen import __version__
from untilgreen.core.events import Attached, Event, Interrupted, RunFinished
from untilgreen.core.fold import apply, fold
from untilgreen.core.model import Outcome
from untilgreen.core.receive import Arrival, receive, refusal
from untilgreen.core.state import RunState
from untilgreen.core.step import CheckGates, Step, next_step, still_wanted
from untilgreen.engine.bus import Bus
from untilgreen.engine.parts import Parts
from untilgreen.engine.perform import perform
from untilgreen.engine.seat import Seat
from untilgreen.engine.trouble import worldly
from untilgreen.engine.veil import without_secrets
from untilgreen.errors import JournalError, UntilgreenError, only
from untilgreen.ports import Journal


class Runner:
    """Drives one run from wherever its journal stands; driving is one idempotent call."""

    def __init__(
        self,
        journal: Journal,
        parts: Parts,
        seat: Seat,
        bus: Bus | None = None,
        state: RunState | None = None,
    ) -> None:
        """`state` is the fold of the journal, where whoever holds its lock has read it already."""
        self.journal = journal
        self.parts = parts
        self.seat = seat
        self.bus = bus or Bus()
        self._state = state
        self._door = anyio.Lock(fast_acquire=True)
        self._under_way: tuple[Step, anyio.CancelScope] | None = None
        self._recorded = 0
        self.attached = False
        """Whether this runner drives, so that it can take arrivals."""

    @property
    def state(self) -> RunState:
        """What is known now."""
        if self._state is None:
            raise JournalError(
                "The journal is empty: there is no run to drive. Start one with `untilgreen run`."
            )
        return self._state

    async def drive(self, first: Arrival | None = None) -> RunState:
        """Go on until the run is over or the seat takes no more; `first` is taken before anything else."""
        self._state = self._state or fold(await self.journal.events())
        if self.state.outcome is not None:
            return self.state
        try:
            await self._attach()
            if first is not None:
                await self.receive(first)
            while (step := next_step(self.state)) and self.seat.takes(step):
                await self._take(step)
        except JournalError:
            raise
        except Exception as error:
            cause = only(error)
            if (trouble := worldly(cause, self.state.run)) is not None:
                raise trouble from cause
            await self._crashed(cause)
            raise cause from cause.__cause__  # its own, not the group around it, which may be itself
        return self.state

    async def record(self, event: Event) -> None:
        """The only door into the journal; shielded, so that journal and state never differ."""
        with anyio.CancelScope(shield=True):
            async with self._door:
                await self._write(event)
                if self._under_way is not None and isinstance(self._under_way[0], CheckGates):
                    self._look_up()  # one gate's verdict may make the others needless

    async def receive(self, arrival: Arrival) -> str:
        """Take something from outside, also in the middle of a step; the answer says why not."""
        why_not = ""
        with anyio.CancelScope(shield=True):
            async with self._door:
                why_not = refusal(self.state, arrival)
                for event in receive(self.state, arrival):
                    await self._write(event)
                self._look_up()
        return why_not

    async def interrupt(self, signal: str) -> None:
        """Leave: what is under way is ended, the run stays open."""
        with anyio.CancelScope(shield=True):
            async with self._door:
                if self.state.outcome is None and self.state.away is None:
                    await self._write(Interrupted(at=self.parts.clock.now(), signal=signal))
                    self._look_up()

    async def _write(self, event: Event) -> None:
        event = without_secrets(event, self.parts.secrets)
        state = apply(self._state, event)
        await self.journal.append(event)
        self._state, self._recorded = state, self._recorded + 1
        self.bus.publish(event, state)

    def _look_up(self) -> None:
        """End what is under way if nobody wants it any more."""
        if self._under_way is not None and not still_wanted(self._under_way[0], self.state):
            self._under_way[1].cancel()

    async def _take(self, step: Step) -> None:
        """Do one step; it is cancelled as soon as the state no longer asks for it."""
        before = self._recorded
        with anyio.CancelScope() as scope:
            self._under_way = (step, scope)
            try:
                await perform(step, self)
            finally:
                self._under_way = None
        if self._recorded == before and still_wanted(step, self.state):
            raise UntilgreenError(f"The step {type(step).__name__} left no trace; it would repeat for ever.")

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
            )
        )
        self.attached = True

    async def _crashed(self, error: BaseException) -> None:
        """Our fault, or a plugin's: said once, with the state kept."""
        if self.state.outcome is None:
            reason = str(error) if isinstance(error, UntilgreenError) else f"{type(error).__name__}: {error}"
            at = self.parts.clock.now()
            await self.record(RunFinished(at=at, outcome=Outcome.CRASHED, reason=reason))
