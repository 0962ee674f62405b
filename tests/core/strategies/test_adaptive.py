"""Continuing while another lap is worth its price, judged by earlier runs."""

from typing import Any

import pytest
from msgspec.structs import replace

from tests.core.helpers import Run, Turn, continued, priced, red
from untilgreen.core.detectors.cycle import Cycle
from untilgreen.core.learning.estimate import OwnEstimate, Prior
from untilgreen.core.strategies.adaptive import Adaptive, explores
from untilgreen.core.strategies.hybrid import Hybrid
from untilgreen.core.values.limits import Limits
from untilgreen.core.values.model import Outcome, Reply
from untilgreen.errors import ConfigError
from untilgreen.testing import story

PRIOR = Prior(version="test", intercept=-3.0, weights=(-1.0, -1.0, -1.0, 2.0))
SURE = OwnEstimate(slope=1.0, covariance=(0.01, 0.0, 0.0), runs=31, laps=120, active=True)
LETTERS = " ".join("abcdefghijklmnopqrstuvwxyz")


def learned(**options: Any) -> Adaptive:
    return Adaptive(**{"prior": PRIOR, "own": {"agent": SURE}, "explore": 0.0, **options})


def again(run: Run, times: int = 1, **reply: Any) -> None:
    """Play laps with the same reply and the same finding, although the files change."""
    for _ in range(times):
        run.lap(Turn(reply=Reply(text="I changed the parser again", **reply)), tests=red("a"))


def test_hybrid_decides_until_something_is_learned_and_the_reason_says_so() -> None:
    run, like = Run(strategy=Adaptive()), Run(strategy=Hybrid())

    mine, theirs = continued(run.lap(tests=red("a"))), continued(like.lap(tests=red("a")))

    nothing = "; hybrid decides, not the estimate: nothing has been learned about this agent yet"
    assert mine == replace(theirs, reason=theirs.reason + nothing)
    assert len(story(LETTERS, Adaptive(), limits=Limits(iterations=60)).laps) == 8


def test_hybrid_decides_where_the_numbers_may_not_and_it_says_why() -> None:
    shy = replace(SURE, active=False, why="12 runs so far, and it takes 20")
    run = Run(strategy=learned(own={"agent": shy}))

    assert continued(run.lap(tests=red("a"))).reason.endswith("12 runs so far, and it takes 20")


def test_numbers_of_another_agent_decide_nothing() -> None:
    run = Run(strategy=learned(own={"codex": SURE}))

    assert "hybrid decides" in continued(run.lap(tests=red("a"))).reason


def test_it_says_its_estimate_in_words() -> None:
    run = Run(strategy=learned())

    decision = continued(run.lap(tests=red("a")))

    assert decision.reason == (
        "a chance of about 27 in 100 that the next lap is green, 29 at best (from 31 runs of yours and the "
        "shared prior); worth it at 2 in 100 or more: one more lap"
    )
    assert decision.metadata == {"chance": 0.2689, "best": 0.2891, "price": 0.02}


def test_the_same_again_lowers_the_estimate_until_it_is_not_worth_a_lap() -> None:
    run = Run(strategy=learned())
    again(run, 3)

    assert run.ending.outcome is Outcome.EXHAUSTED
    assert run.ending.reason == (
        "not worth another lap: a chance of about 0.2 in 100 that the next lap is green, 0.2 at best (the "
        "same reply and outcome 3 times; from 31 runs of yours and the shared prior); worth it at 2 in 100 "
        "or more"
    )


def test_what_is_worth_more_is_tried_longer() -> None:
    run = Run(strategy=learned(worth=10_000))
    again(run, 3)

    assert "the same reply and outcome 3 times" in continued(run.decided).reason


def test_the_first_two_laps_never_end_a_run() -> None:
    run = Run(strategy=learned(worth=1))
    again(run, 2)
    assert continued(run.decided).metadata["price"] == 1.0

    again(run)
    assert run.ending.outcome is Outcome.EXHAUSTED


def test_doubt_speaks_for_another_lap() -> None:
    unsure = replace(SURE, covariance=(9.0, 0.0, 0.0))
    run = Run(strategy=learned(own={"agent": unsure}))
    again(run, 3)

    decision = continued(run.decided)
    assert decision.metadata["chance"] < decision.metadata["price"] < decision.metadata["best"]


def test_one_run_in_ten_explores_and_records_that_it_would_have_stopped() -> None:
    run = Run(strategy=learned(explore=1.0))
    again(run, 3)

    decision = continued(run.decided)
    assert decision.metadata["would_have_stopped"] is True
    assert (
        "it would have stopped here, but this is one of the 100 in 100 runs that continue" in decision.reason
    )


def test_a_run_that_explores_ends_where_hybrid_would_end_it() -> None:
    run = Run(strategy=learned(explore=1.0))
    again(run, 7)
    assert continued(run.decided).metadata["would_have_stopped"] is True

    again(run)
    assert run.ending.outcome is Outcome.EXHAUSTED
    assert run.ending.reason.startswith("not worth another lap: ")


def test_doubt_is_no_reason_to_continue_longer_than_hybrid() -> None:
    unsure = replace(SURE, covariance=(49.0, 0.0, 0.0))
    run = Run(strategy=learned(own={"agent": unsure}))
    again(run, 7)
    decision = continued(run.decided)
    assert decision.metadata["chance"] < decision.metadata["price"] < decision.metadata["best"]

    again(run)
    assert run.ending.outcome is Outcome.EXHAUSTED


def test_a_chance_that_is_worth_a_lap_is_tried_longer_than_by_hybrid() -> None:
    run = Run(strategy=learned(own={"agent": replace(SURE, intercept=7.0)}))
    again(run, 9)

    assert continued(run.decided).metadata["chance"] > 0.02


def test_which_runs_explore_follows_from_their_names() -> None:
    drawn = [f"run-{number}" for number in range(2000) if explores(f"run-{number}", 0.1)]

    assert 150 < len(drawn) < 250
    assert all(explores(name, 0.1) for name in drawn)
    assert not any(explores(name, 0.0) for name in drawn)


def test_only_one_of_two_is_the_same() -> None:
    run = Run(strategy=learned())
    run.lap(tests=red("a"))
    run.lap(Turn(reply=Reply(text="something else entirely, in many other words")), tests=red("a"))
    assert "the same outcome as shortly before" in continued(run.decided).reason

    run.lap(Turn(reply=Reply(text="something else entirely, in many other words")), tests=red("b"))
    assert "the same reply as shortly before" in continued(run.decided).reason


def test_two_repeats_are_called_twice() -> None:
    run = Run(strategy=learned(worth=1000))
    again(run, 2)

    assert "the same reply and outcome twice" in continued(run.decided).reason


def test_a_worth_in_money_is_compared_with_the_mean_price_of_a_lap() -> None:
    run = Run(strategy=learned(worth="$10"))

    decision = continued(run.lap(Turn(reply=priced(0.5)), tests=red("a")))
    assert decision.reason.endswith(
        "at $0.50 a lap and $10.00 for green, worth it at 5 in 100 or more: one more lap"
    )
    assert decision.metadata["price"] == 0.05

    for cost in (9.5, 20.0):
        run.lap(Turn(reply=priced(cost)), tests=red("a"))
    assert "at $10.00 a lap and $10.00 for green, worth it at 100 in 100 or more" in run.ending.reason


def test_a_worth_in_money_continues_while_no_lap_has_a_price() -> None:
    run = Run(strategy=learned(worth="$3"))

    decision = continued(run.lap(Turn(reply=priced(None)), tests=red("a")))

    assert decision.reason.endswith("; what a lap costs is unknown: one more lap")
    assert decision.metadata["price"] == 0.0


@pytest.mark.parametrize("options", [{"worth": "a lot"}, {"worth": 0.5}, {"explore": -0.1}, {"explore": 1.5}])
def test_options_that_make_no_sense_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=rf"^adaptive: {next(iter(options))} = "):
        Adaptive(**options)


def test_a_stuck_signal_ends_it_like_any_other() -> None:
    assert story("a=", Adaptive()).outcome == "stuck"


def test_an_agent_that_is_often_green_is_warned_once_before_it_counts_as_stuck() -> None:
    often = replace(SURE, intercept=5.0)
    run = Run(strategy=learned(own={"agent": often}), detectors=[Cycle()])
    again(run, 3)

    decision = continued(run.decided)
    assert decision.metadata["warned"] is True
    assert decision.reason.startswith(
        "cycle in laps 1, 2, 3: the same failures, 3 times: tests: a; but a chance of about "
    )
    assert decision.reason.endswith("from 31 runs of yours: one more lap before it counts as stuck")
    again(run)
    assert run.ending.outcome is Outcome.STUCK


@pytest.mark.parametrize("own", [SURE, replace(SURE, intercept=5.0, runs=19)])
def test_an_agent_that_is_seldom_green_or_little_known_is_stuck_at_once(own: OwnEstimate) -> None:
    run = Run(strategy=learned(own={"agent": own}, worth=1e9), detectors=[Cycle()])
    again(run, 3)

    assert run.ending.outcome is Outcome.STUCK
