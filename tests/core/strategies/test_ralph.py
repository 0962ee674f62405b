"""The same task again and again, until the agent says that it is done and the gates agree."""

from typing import Any

import pytest

from tests.core.helpers import PASS, Run, Turn, continued, red
from untilgreen.core.brief import compose
from untilgreen.core.decision import Continue
from untilgreen.core.detectors.claims import Claims
from untilgreen.core.limits import Limits
from untilgreen.core.model import Outcome, Promise
from untilgreen.core.step import Work
from untilgreen.core.strategies.ralph import Ralph
from untilgreen.errors import ConfigError
from untilgreen.testing import story
from untilgreen.testing.laws import strategy_laws

DONE = Promise(text="DONE")


@pytest.mark.parametrize(("played", "laps"), [("a -*", 2), ("a a b -*", 4), ("-*", 1), ("a* -*", 2)])
def test_it_ends_when_claim_and_gates_agree(played: str, laps: int) -> None:
    run = story(played, Ralph())

    assert (run.outcome, len(run.iterations)) == ("converged", laps)


def test_a_false_claim_is_rejected_and_never_the_end_by_itself() -> None:
    run = story("a*", Ralph())

    assert run.outcome == "stuck"
    assert {signal.kind for signal in run.iterations[-1].signals} >= {"claims"}
    decision = run.iterations[0].decision
    assert isinstance(decision, Continue)
    assert decision.reason == "the claim was rejected: gates are red"
    assert decision.confidence == 0.95
    assert decision.metadata == {"rejected_claims": 1}


def test_the_brief_after_a_false_claim_opens_with_it() -> None:
    run = Run(strategy=Ralph(), promise=DONE)
    run.lap(Turn(claim=True), tests=red("a"))
    run.until(Work)

    assert compose(run.state).text.startswith("Your claim was rejected")


def test_green_without_the_promise_goes_on_asking_and_is_accepted_at_the_limit() -> None:
    run = story("-", Ralph(max=30), limits=Limits(iterations=7))

    assert (run.outcome, len(run.iterations)) == ("accepted", 7)
    assert all(lap.awaiting_claim for lap in run.iterations)
    assert run.iterations[0].decision is not None
    assert run.iterations[0].decision.reason == "everything is green, the promise was not given"


def test_green_without_the_promise_is_accepted_when_its_own_laps_are_used() -> None:
    run = story("-", Ralph(max=4))

    assert (run.outcome, len(run.iterations)) == ("accepted", 4)


def test_green_without_the_promise_that_says_the_same_again_is_accepted() -> None:
    run = story("-=", Ralph())

    assert (run.outcome, len(run.iterations)) == ("accepted", 3)


def test_it_has_its_own_ceiling() -> None:
    run = story("a b c", Ralph(max=3))

    assert (run.outcome, run.reason) == ("exhausted", "all 3 laps are used")


def test_a_claim_before_its_lap_is_recorded_and_ignored() -> None:
    run = story("-*", Ralph(min=4))

    assert (run.outcome, len(run.iterations)) == ("converged", 4)
    assert [lap.claim for lap in run.iterations] == [True] * 4
    assert run.iterations[0].decision is not None
    assert run.iterations[0].decision.reason == "lap 1 of at least 4"


def test_a_stop_for_false_claims_before_its_lap_is_recorded_and_ignored() -> None:
    run = Run(strategy=Ralph(min=4), detectors=[Claims()], promise=Promise(text="DONE", min=4))
    for letter in "abc":
        run.lap(Turn(claim=True), tests=red(letter))

    assert [signal.kind for signal in run.last.signals] == ["claims"]
    assert run.state.ending is None


def test_false_claims_from_its_lap_on_are_stuck() -> None:
    run = Run(strategy=Ralph(min=2), detectors=[Claims()], promise=Promise(text="DONE", min=2))
    run.lap(tests=red("a"))
    for letter in "bcd":
        run.lap(Turn(claim=True), tests=red(letter))

    assert run.ending.outcome is Outcome.STUCK


def test_a_similarity_stop_before_its_lap_is_recorded_and_ignored() -> None:
    run = story("-=", Ralph(min=5))

    assert (run.outcome, len(run.iterations)) == ("accepted", 5)
    assert "similar" in {signal.kind for signal in run.iterations[2].signals}


def test_similarity_and_window_tune_the_detector() -> None:
    assert len(story("-=", Ralph(window=5)).iterations) == 5


def test_without_evidence_either_way_it_goes_on_with_little_confidence() -> None:
    run = Run(strategy=Ralph(), promise=DONE)

    decision = continued(run.lap(tests=red("a")))

    assert (decision.reason, decision.confidence) == ("neither done nor going in circles", 0.6)


def test_a_green_lap_without_the_claim_has_little_confidence() -> None:
    decision = continued(Run(strategy=Ralph(), promise=DONE).lap(tests=PASS))

    assert decision.confidence == 0.6


@pytest.mark.parametrize("options", [{"max": 0}, {"min": 0}, {"window": 1}, {"similarity": 0.0}, {"min": 21}])
def test_options_that_make_no_sense_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=rf"^ralph: {next(iter(options))} = "):
        Ralph(**options)


def test_it_keeps_the_laws_of_a_strategy() -> None:
    strategy_laws(Ralph(min=4, max=8))
