"""Going on for as long as another lap is worth its price."""

from typing import Any

import pytest

from tests.core.helpers import Run, Turn, continued, priced, red
from untilgreen.core.detectors.noop import Noop
from untilgreen.core.limits import Limits
from untilgreen.core.model import Outcome
from untilgreen.core.strategies.adaptive import Adaptive
from untilgreen.errors import ConfigError
from untilgreen.testing import story
from untilgreen.testing.laws import strategy_laws

PATIENT = Limits(iterations=60)


def chance(run: Run) -> float:
    value = run.decided.decision.metadata["chance"]
    assert isinstance(value, float)
    return value


def test_a_run_that_makes_progress_goes_on() -> None:
    run = story("abcdef abcde abcd abc ab a -", Adaptive())

    assert (run.outcome, len(run.iterations)) == ("converged", 7)


def test_a_run_that_makes_none_is_given_up_after_some_laps() -> None:
    letters = " ".join("abcdefghijklmnopqrstuvwxyz")

    run = story(letters, Adaptive(), limits=PATIENT)

    assert run.outcome == "exhausted"
    assert 3 < len(run.iterations) < 20
    assert run.reason.startswith("not worth another lap: about ")


def test_what_is_worth_more_is_tried_longer() -> None:
    letters = " ".join("abcdefghijklmnopqrstuvwxyz")

    short, long = (len(story(letters, Adaptive(worth=worth), limits=PATIENT).iterations) for worth in (3, 9))

    assert short < long


def test_it_starts_even_and_says_its_estimate_in_words() -> None:
    run = Run(strategy=Adaptive(worth=8))

    decision = continued(run.lap(tests=red("a")))

    assert decision.reason == (
        "worth another lap: about 50% that another lap removes a complaint, a removed one is worth 8 laps"
    )
    assert decision.metadata == {"chance": 0.5, "price": 0.125}
    assert decision.confidence == 0.6


def test_the_estimate_rises_with_progress_and_falls_without() -> None:
    run = Run(strategy=Adaptive())
    seen = []
    for ids, score in (("abc", 0.0), ("ab", 0.1), ("ab", 0.2), ("ab", 0.2), ("ac", 0.2)):
        run.lap(tests=red(*ids, score=score))
        seen.append(chance(run))

    assert seen[0] < seen[1] < seen[2]
    assert seen[2] > seen[3] > seen[4]


def test_old_evidence_fades() -> None:
    def after(memory: float) -> float:
        run = Run(strategy=Adaptive(worth=100, memory=memory))
        for ids in ("abcd", "abc", "ab", "ac", "ad", "bc"):
            run.lap(tests=red(*ids))
        return chance(run)

    assert after(0.5) < after(0.9) < after(1.0)


def test_each_nudge_lowers_the_estimate() -> None:
    run = Run(strategy=Adaptive(), detectors=[Noop()])
    run.lap(Turn(tree="tree-0"), tests=red("a"))

    assert chance(run) == pytest.approx(0.35)


def test_its_end_has_little_confidence() -> None:
    run = Run(strategy=Adaptive(worth=1.5))
    run.lap(tests=red("a"))

    assert run.ending.outcome is Outcome.EXHAUSTED
    assert run.ending.confidence == 0.7


def test_a_worth_in_money_is_compared_with_the_mean_price_of_a_lap() -> None:
    run = Run(strategy=Adaptive(worth="$3"))
    decision = continued(run.lap(Turn(reply=priced(0.5)), tests=red("a", "b")))
    assert decision.reason.endswith("a lap costs $0.50 and a removed one is worth $3.00")
    assert decision.metadata["price"] == pytest.approx(0.1667)

    run.lap(Turn(reply=priced(5.5)), tests=red("a"))
    assert run.ending.reason.endswith("a lap costs $3.00 and a removed one is worth $3.00")


@pytest.mark.parametrize("options", [{"worth": "a lot"}, {"worth": 0.5}, {"memory": 0.0}, {"memory": 1.5}])
def test_options_that_make_no_sense_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=rf"^adaptive: {next(iter(options))} = "):
        Adaptive(**options)


def test_a_stuck_signal_ends_it_like_any_other() -> None:
    assert story("a=", Adaptive()).outcome == "stuck"


def test_it_keeps_the_laws_of_a_strategy() -> None:
    strategy_laws(Adaptive())
