"""The same task again and again, until the agent says that it is done and the gates agree."""

from typing import Any

import pytest

from tests.core.helpers import PASS, Run, Turn, continued, red
from untilgreen.core.briefing.brief import compose
from untilgreen.core.detectors.claims import Claims
from untilgreen.core.detectors.similar import Similar
from untilgreen.core.loop.step import Work
from untilgreen.core.strategies.fixed import Fixed
from untilgreen.core.strategies.ralph import Ralph
from untilgreen.core.values.decision import Continue
from untilgreen.core.values.limits import Limits
from untilgreen.core.values.model import Outcome, Promise
from untilgreen.errors import ConfigError
from untilgreen.testing import story

DONE = Promise(text="DONE")


@pytest.mark.parametrize(("played", "laps"), [("a -*", 2), ("a a b -*", 4), ("-*", 1), ("a* -*", 2)])
def test_it_ends_when_claim_and_gates_agree(played: str, laps: int) -> None:
    run = story(played, Ralph())

    assert (run.outcome, len(run.laps)) == ("converged", laps)


def test_a_false_claim_is_rejected_and_never_the_end_by_itself() -> None:
    run = story("a*", Ralph())

    assert run.outcome == "stuck"
    assert {signal.kind for signal in run.laps[-1].signals} >= {"claims"}
    decision = run.laps[0].decision
    assert isinstance(decision, Continue)
    assert decision.reason == "the claim was rejected: gates are red"
    assert decision.confidence == 0.95
    assert decision.metadata == {"rejected_claims": 1}


def test_the_brief_after_a_false_claim_opens_with_it() -> None:
    run = Run(strategy=Ralph(), promise=DONE)
    run.lap(Turn(claim=True), tests=red("a"))
    run.until(Work)

    assert compose(run.state).text.startswith("Your claim was rejected")


def test_green_without_the_promise_keeps_asking_and_is_accepted_at_the_limit() -> None:
    run = story("-", Ralph(max=30), limits=Limits(iterations=7))

    assert (run.outcome, len(run.laps)) == ("accepted", 7)
    assert all(lap.awaiting_claim for lap in run.laps)
    assert run.laps[0].decision is not None
    assert run.laps[0].decision.reason == "everything is green, but the agent did not give the promise"


def test_green_without_the_promise_is_accepted_when_its_own_laps_are_used() -> None:
    run = story("-", Ralph(max=4))

    assert (run.outcome, len(run.laps)) == ("accepted", 4)


def test_green_without_the_promise_that_says_the_same_again_is_accepted() -> None:
    run = story("-=", Ralph())

    assert (run.outcome, len(run.laps)) == ("accepted", 2)
    assert run.reason == "all gates are green, and laps 1 and 2 changed no file and did not give the promise"


def test_it_has_its_own_ceiling() -> None:
    run = story("a b c", Ralph(max=3))

    assert (run.outcome, run.reason) == ("exhausted", "all 3 laps are used")


def test_it_runs_from_one_lap_to_twenty_by_default() -> None:
    run = story("a b", Ralph(), detectors=(), limits=Limits(iterations=30))

    assert (len(run.laps), run.reason) == (20, "all 20 laps are used")
    assert len(story("-*", Ralph()).laps) == 1


def test_a_claim_before_its_lap_is_recorded_and_ignored() -> None:
    run = story("-*", Ralph(min=4))

    assert (run.outcome, len(run.laps)) == ("converged", 4)
    assert [lap.claim for lap in run.laps] == [True] * 4
    assert run.laps[0].decision is not None
    assert run.laps[0].decision.reason == "lap 1 of at least 4"


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

    assert (run.outcome, len(run.laps)) == ("accepted", 5)
    assert "similar" in {signal.kind for signal in run.laps[2].signals}


def test_similarity_and_window_tune_the_detector() -> None:
    assert [len(story("a=", Ralph(window=window), detectors=[Similar()]).laps) for window in (3, 5)] == [3, 5]


def test_before_its_least_number_of_laps_nothing_ends_it() -> None:
    run = story("a=", Ralph(min=10))

    assert (run.outcome, len(run.laps)) == ("stuck", 10)


@pytest.mark.parametrize(
    ("played", "laps"),
    [("a - -= -=", 4), ("a -= - -= -=", 5), ("a -= a -= -=", 5), ("-= - - - -=* -=", 5)],
)
def test_two_green_laps_without_a_change_or_a_claim_are_enough(played: str, laps: int) -> None:
    """The count restarts when files change in between, a lap is red, or a claim is made."""
    assert len(story(played, Ralph()).laps) == laps


def test_green_and_unclaimed_ends_with_every_strategy_that_has_a_promise() -> None:
    run = story("ab a -=", Fixed(iterations=12), promise="DONE")

    assert (run.outcome, len(run.laps)) == ("accepted", 4)


def test_without_evidence_either_way_it_continues_with_little_confidence() -> None:
    run = Run(strategy=Ralph(), promise=DONE)

    decision = continued(run.lap(tests=red("a")))

    assert (decision.reason, decision.confidence) == ("not done, and not stuck", 0.6)


def test_a_green_lap_without_the_claim_has_little_confidence() -> None:
    decision = continued(Run(strategy=Ralph(), promise=DONE).lap(tests=PASS))

    assert decision.confidence == 0.6


@pytest.mark.parametrize("options", [{"max": 0}, {"min": 0}, {"window": 1}, {"similarity": 0.0}, {"min": 21}])
def test_options_that_make_no_sense_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=rf"^ralph: {next(iter(options))} = "):
        Ralph(**options)
