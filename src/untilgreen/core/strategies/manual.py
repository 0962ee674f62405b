"""A person decides after every lap."""

from __future__ import annotations

from msgspec import Struct

from untilgreen.core.values.decision import (
    ACCEPT,
    CONTINUE,
    ROLLBACK,
    STOP,
    SWITCH,
    Ask,
    Continue,
    Decision,
    Finish,
)
from untilgreen.core.values.model import Outcome
from untilgreen.core.values.rules import Signal
from untilgreen.core.values.state import RunState
from untilgreen.core.values.units import several, show_score


class Manual(Struct, frozen=True, kw_only=True):
    """Asks after every lap and waits for the answer: continue, accept, stop, roll back, switch agent."""

    def decide(self, state: RunState, signals: tuple[Signal, ...]) -> Decision:
        """Ask, then turn the answer into a decision."""
        lap, answer = state.laps[-1].number, state.answer
        if answer is None:
            return _question(state, signals)
        by = f" by {answer.by}" if answer.by else ""
        if answer.choice == ACCEPT:
            return Finish(outcome=Outcome.ACCEPTED, reason=f"lap {lap} was accepted{by}", leave=lap)
        if answer.choice == STOP:
            return Finish(outcome=Outcome.CANCELLED, reason=f"stopped after lap {lap}{by}")
        if answer.choice == ROLLBACK:
            target = int(answer.argument or 0)
            return Continue(reason=f"back to lap {target}{by}", restore=target)
        if answer.choice == SWITCH:
            return Continue(reason=f"{answer.argument} continues{by}", agent=answer.argument)
        return Continue(reason=f"another lap was requested{by}")


def _question(state: RunState, signals: tuple[Signal, ...]) -> Ask:
    last = state.laps[-1]
    seen = "".join(f" {signal.kind}: {signal.evidence}." for signal in signals)
    switch = (SWITCH,) if len(state.plan.agents) > 1 else ()
    return Ask(
        question=f"Lap {last.number} scored {show_score(last.score)}, {several(last.count, 'finding')} left."
        f"{seen} What next?",
        choices=(CONTINUE, ACCEPT, STOP, ROLLBACK, *switch),
        default=CONTINUE,
        reason="manual asks after every lap",
        until=None,
        metadata={"score": last.score, "signals": [signal.kind for signal in signals]},
    )
