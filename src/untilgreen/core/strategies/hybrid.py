"""Some laps for everyone, and more for those who make progress."""

from __future__ import annotations

from msgspec import Struct

from untilgreen.core.decision import Continue, Decision, Finish
from untilgreen.core.model import Outcome
from untilgreen.core.options import at_least, share
from untilgreen.core.rules import Signal, give_up
from untilgreen.core.state import RunState
from untilgreen.core.units import several

_ROUNDING = 1e-9


class Hybrid(Struct, frozen=True, kw_only=True):
    """Base laps, then bonus laps that each have to be earned by the lap before them."""

    base: int = 8
    bonus: int = 12
    min_gain: float = 0.1
    accept_after: int | None = None
    """From so many laps on, a run that ends without being green may be good enough."""
    accept_floor: float = 0.5

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        at_least(self, 1, "base", "accept_after")
        at_least(self, 0, "bonus", "min_gain")
        share(self, "accept_floor")

    def decide(self, state: RunState, signals: tuple[Signal, ...]) -> Decision:
        """A bonus lap is earned by a new best score, or by fewer complaints than ever."""
        if ending := give_up(signals):
            return ending
        used, last = state.strategy_laps, state.iterations[-1]
        if used < self.base:
            return Continue(reason=f"lap {used} of {self.base} base laps is done", metadata={"bonus_used": 0})
        bonus_used = used - self.base
        if bonus_used >= self.bonus:
            return Finish(
                outcome=Outcome.EXHAUSTED,
                reason=f"all {self.base} base and {self.bonus} bonus laps are used",
                metadata={"bonus_used": bonus_used},
            )
        if last.fewer or last.gain >= self.min_gain - _ROUNDING:
            how = (
                f"only {several(last.count, 'complaint')} left"
                if last.fewer
                else f"score up by {last.gain:.2f}"
            )
            return Continue(
                reason=f"bonus lap {bonus_used + 1} of {self.bonus} earned: {how}",
                confidence=0.8,
                metadata={"bonus_used": bonus_used + 1, "gain": round(last.gain, 4)},
            )
        return Finish(
            outcome=Outcome.EXHAUSTED,
            reason=f"{self.base} base laps are used and lap {last.number} earned no bonus lap",
            confidence=0.7,
            metadata={"bonus_used": bonus_used, "gain": round(last.gain, 4)},
        )

    def settle(self, state: RunState, finish: Finish) -> Finish:
        """Good enough, only where it was asked for."""
        best, laps = state.best, len(state.iterations)
        if self.accept_after is None or laps < self.accept_after or best is None or best.lap == 0:
            return finish
        if best.score < self.accept_floor:
            return finish
        return Finish(
            outcome=Outcome.ACCEPTED,
            reason=f"lap {best.lap} scored {best.score:.2f} of {self.accept_floor:.2f}; {finish.reason}",
            confidence=finish.confidence,
            leave=best.lap,
            metadata={**finish.metadata, "instead_of": str(finish.outcome)},
        )
