"""Base laps for every run, and bonus laps for runs that make progress."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from untilgreen.core.values.decision import Continue, Decision, Finish
from untilgreen.core.values.model import Outcome
from untilgreen.core.values.option_checks import FromOne, FromZero, Share, about, check_options
from untilgreen.core.values.rules import Signal, give_up
from untilgreen.core.values.state import RunState
from untilgreen.core.values.units import all_used, several, show_score

_ROUNDING = 1e-9
BASE_LAPS = 8


class Hybrid(Struct, frozen=True, kw_only=True):
    """Base laps, then bonus laps that each have to be earned by the lap before them."""

    base: Annotated[FromOne, about("Laps that every run gets.")] = BASE_LAPS
    bonus: Annotated[
        FromZero | Literal["unlimited"],
        about("Maximum number of laps after those; each is earned by progress in the lap before it."),
    ] = 12
    min_gain: Annotated[
        Annotated[float, Meta(ge=0)], about("How much the best score has to rise to earn a bonus lap.")
    ] = 0.1
    accept_after: Annotated[
        FromOne | None,
        about("From this lap on, a run that ends without being green may be accepted; not set: never."),
    ] = None
    accept_floor: Annotated[
        Share,
        about(
            "The score, from 0 to 1, that the best lap needs to be accepted. A gate that only passes or "
            "fails scores 0 while it is red, so a run with no other gate is never accepted."
        ),
    ] = 0.5

    def __post_init__(self) -> None:
        """Refuse options that make no sense."""
        check_options(self)

    def most_laps(self) -> int | None:
        """Base and bonus laps together; None if the bonus is unlimited."""
        return None if isinstance(self.bonus, str) else self.base + self.bonus

    def decide(self, state: RunState, signals: tuple[Signal, ...]) -> Decision:
        """A bonus lap is earned by a new best score, or by fewer findings than ever."""
        if ending := give_up(signals):
            return ending
        used, last, most = len(state.laps), state.laps[-1], self.most_laps()
        if used < self.base:
            return Continue(reason=f"base lap {used} of {self.base} is done", metadata={"bonus_used": 0})
        bonus_used = used - self.base
        if most is not None and used >= most:
            return Finish(
                outcome=Outcome.EXHAUSTED,
                reason=f"all {self.base} base and {self.bonus} bonus laps are used"
                if self.bonus
                else all_used(self.base, "lap"),
                metadata={"bonus_used": bonus_used},
            )
        if last.fewer or last.gain >= self.min_gain - _ROUNDING:
            how = (
                f"only {several(last.failures, 'failure')} left"
                if last.fewer
                else f"score up by {last.gain:.2f}"
            )
            of = f" of {self.bonus}" if most is not None else ""
            return Continue(
                reason=f"bonus lap {bonus_used + 1}{of} earned: {how}",
                confidence=0.8,
                metadata={"bonus_used": bonus_used + 1, "gain": round(last.gain, 4)},
            )
        return Finish(
            outcome=Outcome.EXHAUSTED,
            reason=f"{all_used(self.base, 'base lap')}, and lap {last.number} earned no bonus lap",
            confidence=0.7,
            metadata={"bonus_used": bonus_used, "gain": round(last.gain, 4)},
        )

    def settle(self, state: RunState, finish: Finish) -> Finish:
        """Accept a good enough result, but only if `accept_after` is set."""
        best, laps = state.best, len(state.laps)
        if self.accept_after is None or laps < self.accept_after or best is None or best.lap == 0:
            return finish
        if best.score < self.accept_floor:
            return finish
        return Finish(
            outcome=Outcome.ACCEPTED,
            reason=f"lap {best.lap} scored {show_score(best.score)}, enough for accept_floor "
            f"{self.accept_floor:.2f}; {finish.reason}",
            confidence=finish.confidence,
            leave=best.lap,
            metadata={**finish.metadata, "instead_of": str(finish.outcome)},
        )
