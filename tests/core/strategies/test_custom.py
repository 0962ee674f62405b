"""What is true of every strategy, even one that we have never seen."""

from typing import Any

import pytest

from untilgreen.core.strategies.adaptive import Adaptive
from untilgreen.core.strategies.fixed import Fixed
from untilgreen.core.strategies.hybrid import Hybrid
from untilgreen.core.strategies.manual import Manual
from untilgreen.core.strategies.ralph import Ralph
from untilgreen.core.values.decision import Continue, Decision, Finish
from untilgreen.core.values.events import Decided
from untilgreen.core.values.limits import Limits
from untilgreen.core.values.model import Outcome
from untilgreen.core.values.rules import Signal, Strategy
from untilgreen.core.values.state import RunState
from untilgreen.testing import story, tell


class Patient:
    """A strategy that anyone could write: it ends after some laps without a new best."""

    def __init__(self, patience: int = 3) -> None:
        self.patience = patience

    def decide(self, state: RunState, signals: tuple[Signal, ...]) -> Decision:
        last = state.laps[-1]
        if last.since_best >= self.patience:
            return Finish(outcome=Outcome.EXHAUSTED, reason=f"no better for {last.since_best} laps")
        return Continue(reason="patience", confidence=0.6)


ALL: list[Any] = [Fixed(iterations=30), Hybrid(), Ralph(), Manual(), Adaptive(), Patient(30)]
EVERY = pytest.mark.parametrize("strategy", ALL, ids=lambda strategy: type(strategy).__name__)


@EVERY
def test_red_then_green_converges_with_every_strategy(strategy: Strategy) -> None:
    run = story("a -*" if isinstance(strategy, Ralph) else "a -", strategy)

    assert (run.outcome, len(run.laps)) == ("converged", 2)


@EVERY
def test_success_on_the_last_permitted_lap_is_success(strategy: Strategy) -> None:
    played = "a -*" if isinstance(strategy, Ralph) else "a -"

    assert story(played, strategy, limits=Limits(iterations=2)).outcome == "converged"


@EVERY
def test_an_agent_that_always_fails_ends_the_run_within_the_errors(strategy: Strategy) -> None:
    run = story("!", strategy)

    assert (run.outcome, len(run.laps)) == ("exhausted", 3)
    assert run.reason == "limit errors: the agent failed 3 times in a row, last: crash"


@EVERY
def test_an_agent_that_always_asks_ends_within_the_limits(strategy: Strategy) -> None:
    run = story("a?", strategy, limits=Limits(iterations=6))

    assert run.outcome in ("stuck", "exhausted")
    assert len(run.laps) <= 6


@EVERY
def test_every_decision_has_a_reason_a_confidence_and_metadata(strategy: Strategy) -> None:
    events = [event for _, event in tell("abcd abc ab= ab= ab= ab", strategy)]
    decisions = [event.decision for event in events if isinstance(event, Decided)]

    assert len(decisions) > 4
    for decision in decisions:
        assert decision.reason
        assert 0.0 < decision.confidence <= 1.0
        assert isinstance(decision.metadata, dict)


@pytest.mark.parametrize("strategy", [s for s in ALL if not isinstance(s, Manual | Patient)])
def test_every_strategy_but_manual_answers_a_stuck_signal_with_the_end(strategy: Strategy) -> None:
    signal = Signal(kind="mine", strength="stuck", laps=(1,), evidence="because", confidence=0.77)
    happened = list(tell("a b", strategy))
    state = next(state for state, event in happened if isinstance(event, Decided))

    decision = strategy.decide(state, (signal,))

    assert isinstance(decision, Finish)
    assert decision.outcome is Outcome.STUCK
    assert decision.reason == "mine in laps 1: because"
    assert decision.confidence == 0.77


def test_a_custom_strategy_ends_a_run_by_its_own_rule() -> None:
    run = story("abc ab ac ad bc", Patient(3))

    assert (run.outcome, run.reason, len(run.laps)) == ("exhausted", "no better for 3 laps", 5)
