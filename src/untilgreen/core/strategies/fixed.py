"""A fixed number of laps."""

from __future__ import annotations

from typing import Annotated

from msgspec import Struct

from untilgreen.core.values.decision import Continue, Decision, Finish
from untilgreen.core.values.model import Outcome
from untilgreen.core.values.option_checks import Laps, about, check_options
from untilgreen.core.values.rules import Signal, give_up
from untilgreen.core.values.state import RunState
from untilgreen.core.values.units import all_used


class Fixed(Struct, frozen=True, kw_only=True):
    """At most N laps, fewer if the gates turn green earlier."""

    iterations: Annotated[Laps, about("Maximum number of laps.")] = 3

    def __post_init__(self) -> None:
        """Refuse options that make no sense."""
        check_options(self)

    def most_laps(self) -> int | None:
        """The `iterations`; None if unlimited."""
        return None if isinstance(self.iterations, str) else self.iterations

    def decide(self, state: RunState, signals: tuple[Signal, ...]) -> Decision:
        """Count the laps."""
        if ending := give_up(signals):
            return ending
        used, most = len(state.laps), self.most_laps()
        if most is None:
            return Continue(reason=f"lap {used} is done; only the limits end the run")
        if used >= most:
            return Finish(outcome=Outcome.EXHAUSTED, reason=all_used(most, "planned lap"))
        return Continue(reason=f"lap {used} of {most} is done", metadata={"laps_left": most - used})
