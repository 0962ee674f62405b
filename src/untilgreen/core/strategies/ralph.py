"""The same task again and again, until the agent says that it is done and the gates agree."""

from __future__ import annotations

from typing import Annotated

from msgspec import Struct

from untilgreen.core.values.decision import Continue, Decision, Finish
from untilgreen.core.values.model import Outcome
from untilgreen.core.values.option_checks import FromOne, FromTwo, Laps, Share, about, check_options
from untilgreen.core.values.rules import Signal, give_up
from untilgreen.core.values.state import RunState
from untilgreen.core.values.units import all_used
from untilgreen.errors import ConfigError


class Ralph(Struct, frozen=True, kw_only=True):
    """Runs until claim and gates agree; `similarity` and `window` tune the run's `similar` detector."""

    promise: Annotated[str, about("The text of the claim, if the spec sets no `promise`.")] = "DONE"
    max: Annotated[Laps, about("Maximum number of laps.")] = 20
    min: Annotated[
        FromOne, about("The first lap whose claim counts; before it no stuck signal ends the run either.")
    ] = 1
    similarity: Annotated[
        Share, about("How alike answers must be for the `similar` detector, from 0 to 1.")
    ] = 0.95
    window: Annotated[FromTwo, about("How many answers in a row the `similar` detector compares.")] = 3
    tokens: Annotated[
        bool, about("Whether a last line such as TASK_COMPLETE or [DONE] counts as a claim, too.")
    ] = False

    def __post_init__(self) -> None:
        """Refuse options that make no sense."""
        check_options(self)
        if (most := self.most_laps()) is not None and self.min > most:
            raise ConfigError(
                f"ralph: min = {self.min} is above max = {self.max}, so no claim would ever count."
            )

    def most_laps(self) -> int | None:
        """The `max`; None if unlimited."""
        return None if isinstance(self.max, str) else self.max

    def decide(self, state: RunState, signals: tuple[Signal, ...]) -> Decision:
        """Continue until `max`; before lap `min`, claims and stuck signals are recorded but ignored."""
        used, last, most = len(state.laps), state.laps[-1], self.most_laps()
        early = used < self.min
        if not early and (ending := give_up(signals)):
            return ending
        if most is not None and used >= most:
            return Finish(outcome=Outcome.EXHAUSTED, reason=all_used(most, "lap"))
        if last.claim and not last.awaiting_claim:
            return Continue(
                reason="the claim was rejected: gates are red",
                confidence=0.95,
                metadata={"rejected_claims": last.rejected},
            )
        if early:
            return Continue(reason=f"lap {used} of at least {self.min}")
        if last.awaiting_claim:
            return Continue(
                reason="everything is green, but the agent did not give the promise", confidence=0.6
            )
        return Continue(reason="not done, and not stuck", confidence=0.6)
