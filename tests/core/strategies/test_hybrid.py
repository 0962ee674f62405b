"""Base laps for every run, and bonus laps for runs that make progress."""

from typing import Any

import pytest

from tests.core.helpers import Run, Turn, continued, red
from untilgreen.core.strategies.hybrid import Hybrid
from untilgreen.core.values.decision import Continue
from untilgreen.core.values.model import Outcome, Reply
from untilgreen.errors import ConfigError
from untilgreen.testing import story

SEEDS = Hybrid(base=3, bonus=2)


def test_a_run_that_fixes_one_thing_a_lap_converges() -> None:
    run = story("abc ab a -", Hybrid())

    assert (run.outcome, len(run.laps)) == ("converged", 4)


def test_eight_base_laps_and_twelve_bonus_laps_are_the_default() -> None:
    assert (Hybrid().base, Hybrid().bonus, Hybrid().min_gain) == (8, 12, 0.1)


@pytest.mark.parametrize(
    ("played", "outcome", "laps"),
    [
        ("abc abd abe", "exhausted", 3),
        ("abcd abc ab a -", "converged", 5),
        ("abcd ab ac", "exhausted", 3),
        ("abcd abc ab ac", "exhausted", 4),
        ("abcdef abcde abcd abc ab a -", "exhausted", 5),
        ("abcd a ab", "exhausted", 3),
    ],
    ids=["no progress", "every lap earned", "stuck at half", "one bonus lap", "bonus used up", "old best"],
)
def test_bonus_laps_are_earned_by_the_lap_before(played: str, outcome: str, laps: int) -> None:
    run = story(played, SEEDS)

    assert (run.outcome, len(run.laps)) == (outcome, laps)


def test_a_bonus_lap_can_be_earned_by_score_alone() -> None:
    run = Run(strategy=Hybrid(base=1, bonus=2))
    run.lap(tests=red("a", score=0.3))
    assert run.ending.outcome is Outcome.EXHAUSTED

    run = Run(strategy=Hybrid(base=2, bonus=2, min_gain=0.1))
    run.lap(tests=red("a", score=0.3))
    decision = continued(run.lap(tests=red("b", score=0.4)))

    assert decision.reason == "bonus lap 1 of 2 earned: score up by 0.10"
    assert decision.confidence == 0.8
    assert decision.metadata == {"bonus_used": 1, "gain": 0.1}


def test_a_gain_below_the_threshold_earns_nothing() -> None:
    run = Run(strategy=Hybrid(base=2, bonus=2, min_gain=0.2))
    run.lap(tests=red("a", score=0.3))
    run.lap(tests=red("b", score=0.4))

    assert run.ending.outcome is Outcome.EXHAUSTED
    assert run.ending.confidence == 0.7
    assert run.ending.reason == "all 2 base laps are used, and lap 2 earned no bonus lap"


@pytest.mark.parametrize(("score", "earned"), [(0.3, False), (0.6, True)])
def test_of_a_turn_that_failed_only_the_gates_say_whether_it_earned_a_bonus_lap(
    score: float, earned: bool
) -> None:
    run = Run(strategy=Hybrid(base=2, bonus=1))
    run.lap(tests=red("a", score=0.3))
    run.lap(Turn(reply=Reply(error="crash")), tests=red("a", score=score))

    assert isinstance(run.decided.decision, Continue) is earned
    assert run.decided.decision.metadata["gain"] == pytest.approx(score - 0.3)


def test_a_base_lap_is_sure_of_itself() -> None:
    decision = continued(Run(strategy=SEEDS).lap(tests=red("a")))

    assert (decision.confidence, decision.reason) == (1.0, "base lap 1 of 3 is done")


def test_when_all_bonus_laps_are_used_it_is_over() -> None:
    run = story("abcdef abcde abcd abc ab a", SEEDS)

    assert run.reason == "all 3 base and 2 bonus laps are used"


# Good enough


@pytest.mark.parametrize(
    ("played", "outcome"),
    [
        ("abcd abc a", "accepted"),
        ("abcd ab ac", "accepted"),
        ("abcd abc abd", "exhausted"),
        ("abcd a abc", "accepted"),
    ],
    ids=["above the floor", "at the floor", "below the floor", "the best lap counts"],
)
def test_good_enough_is_accepted_only_where_it_was_asked_for(played: str, outcome: str) -> None:
    generous = Hybrid(base=3, bonus=0, accept_after=3, accept_floor=0.5)

    assert story(played, generous).outcome == outcome
    assert story(played, Hybrid(base=3, bonus=0)).outcome == "exhausted"


def test_a_run_that_is_too_short_is_not_good_enough() -> None:
    assert story("abcd abc a", Hybrid(base=3, bonus=0, accept_after=4)).outcome == "exhausted"


def test_a_stuck_run_may_be_good_enough_too() -> None:
    run = story("abcd a= a= a=", Hybrid(accept_after=3))

    assert run.outcome == "accepted"
    assert run.reason.startswith("lap 4 scored 0.75, enough for accept_floor 0.50; cycle in laps 2, 3, 4")
    assert run.ending is not None
    assert run.ending.metadata["instead_of"] == "stuck"
    assert run.ending.leave == 4


def test_the_untouched_tree_is_never_good_enough() -> None:
    run = Run(strategy=Hybrid(base=1, bonus=0, accept_after=1, accept_floor=0.5), baseline=True)
    run.lap(tests=red("a", score=0.9))
    run.lap(tests=red("a", "b", score=0.8))

    assert run.ending.outcome is Outcome.EXHAUSTED


@pytest.mark.parametrize(
    "options",
    [
        {"base": 0},
        {"bonus": -1},
        {"min_gain": -0.1},
        {"accept_after": 0},
        {"accept_floor": 0.0},
        {"accept_floor": 2},
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=rf"^hybrid: {next(iter(options))} = "):
        Hybrid(**options)
