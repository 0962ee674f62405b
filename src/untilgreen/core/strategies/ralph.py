"""The same task again and again, until the agent says that it is done and the gates agree."""

from __future__ import annotations

from msgspec import Struct

from untilgreen.core.decision import Continue, Decision, Finish
from untilgreen.core.model import Outcome
from untilgreen.core.options import at_least, share
from untilgreen.core.rules import Signal, give_up
from untilgreen.core.state import RunState
from untilgreen.errors import ConfigError


class Ralph(Struct, frozen=True, kw_only=True):
    """Runs until claim and gates agree; `similarity` and `window` tune the run's `similar` detector."""

    promise: str = "DONE"
    max: int = 20
    min: int = 1
    similarity: float = 0.95
    window: int = 3
    tokens: bool = False

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        at_least(self, 1, "max", "min")
        at_least(self, 2, "window")
        share(self, "similarity")
        if self.min > self.max:
            raise ConfigError(
                f"ralph: min = {self.min} is above max = {self.max}, so no claim could be heard."
            )

    def decide(self, state: RunState, signals: tuple[Signal, ...]) -> Decision:
        """Before lap `min` a claim or a similarity stop is recorded and ignored."""
        used, last = state.strategy_laps, state.iterations[-1]
        early = used < self.min
        heard = tuple(signal for signal in signals if not (early and signal.kind in ("similar", "claims")))
        if ending := give_up(heard):
            return ending
        if used >= self.max:
            return Finish(outcome=Outcome.EXHAUSTED, reason=f"all {self.max} laps are used")
        if last.claim and not last.awaiting_claim:
            return Continue(
                reason="the claim was rejected: gates are red",
                confidence=0.95,
                metadata={"rejected_claims": last.rejected},
            )
        if early:
            return Continue(reason=f"lap {used} of at least {self.min}")
        if last.awaiting_claim:
            return Continue(reason="everything is green, the promise was not given", confidence=0.6)
        return Continue(reason="neither done nor going in circles", confidence=0.6)
