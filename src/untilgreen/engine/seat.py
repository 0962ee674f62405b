"""From where a run is driven, and which steps can be done from there."""

from __future__ import annotations

from msgspec import Struct

from untilgreen.core.events import SeatName
from untilgreen.core.step import AwaitAnswer, AwaitResume, AwaitTurn, Halt, Step, Wait

INSIDE = "UNTILGREEN_INSIDE"
"""Set for agents and gates, so that they can't act as the person who started them."""


class Seat(Struct, frozen=True, kw_only=True):
    """A place to drive from; where it takes no more, the process may end and the run waits."""

    name: SeatName
    answers: bool
    """Whether a person can answer from here."""
    leaves: tuple[type, ...] = ()
    session: str | None = None
    own_turn: bool = False
    """Whether the session is in a turn that a person began, and not kept going by its stop hook."""

    def takes(self, step: Step) -> bool:
        """Whether this step can be done from here; a halt can be done from nowhere."""
        return not isinstance(step, (Halt, *self.leaves))


TERMINAL = Seat(name="terminal", answers=True)
UNATTENDED = Seat(name="unattended", answers=False, leaves=(AwaitAnswer, AwaitResume))


def in_session(session: str, *, own_turn: bool = False) -> Seat:
    """Inside an agent's own session, which does the work itself: a brief is offered and then waited for."""
    leaves = (AwaitTurn, AwaitAnswer, AwaitResume, Wait)
    return Seat(name="session", answers=True, leaves=leaves, session=session, own_turn=own_turn)
