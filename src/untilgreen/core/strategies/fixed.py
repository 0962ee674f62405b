"""So many laps and no more."""

from __future__ import annotations

from msgspec import Struct

from untilgreen.core.decision import Continue, Decision, Finish
from untilgreen.core.model import Outcome
from untilgreen.core.options import at_least
from untilgreen.core.rules import Signal, give_up
from untilgreen.core.state import RunState


class Fixed(Struct, frozen=True, kw_only=True):
    """At most N laps, fewer when the gates are green before."""

    iterations: int = 3

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        at_least(self, 1, "iterations")

    def decide(self, state: RunState, signals: tuple[Signal, ...]) -> Decision:
        """Count."""
        if ending := give_up(signals):
            return ending
        used = state.strategy_laps
        if used >= self.iterations:
            return Finish(outcome=Outcome.EXHAUSTED, reason=f"all {self.iterations} planned laps are used")
        return Continue(
            reason=f"lap {used} of {self.iterations} is done", metadata={"laps_left": self.iterations - used}
        )
