"""Where a run is driven from, and which steps can be done there."""

from __future__ import annotations

import math

from msgspec import Struct

from untilgreen.core.loop.step import AwaitAnswer, AwaitResume, AwaitTurn, Halt, Step, Wait
from untilgreen.core.values.events import SeatName

DAY = 86_400.0


class Seat(Struct, frozen=True, kw_only=True):
    """A place to drive from; when it can do no more, the process may end and the run waits."""

    name: SeatName
    answers: bool
    """Whether a person can answer from here."""
    leaves: tuple[type, ...] = ()
    patience: float = math.inf
    """The most seconds that it waits for a person or a time."""
    session: str | None = None
    own_turn: bool = False
    """Whether the session is in a turn that a person started, and not kept going by its stop hook."""

    def takes(self, step: Step, now: float) -> bool:
        """Whether this step can be done from here; a halt never can."""
        if isinstance(step, (Halt, *self.leaves)):
            return False
        if not isinstance(step, AwaitAnswer | AwaitResume | Wait) or self.patience == math.inf:
            return True
        until = None if isinstance(step, AwaitResume) else step.until
        return until is not None and until - now <= self.patience


TERMINAL = Seat(name="terminal", answers=True)
UNATTENDED = Seat(name="unattended", answers=False, leaves=(AwaitAnswer, AwaitResume))
SERVED = Seat(name="served", answers=True, patience=DAY)
"""A process without a terminal whose questions are answered elsewhere; the answer starts it again."""


def in_session(session: str, *, own_turn: bool = False) -> Seat:
    """Inside an agent's own session, which does the work itself: a brief is offered and then waited for."""
    leaves = (AwaitTurn, AwaitAnswer, AwaitResume, Wait)
    return Seat(name="session", answers=True, leaves=leaves, session=session, own_turn=own_turn)
