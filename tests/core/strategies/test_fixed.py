"""A fixed number of laps."""

import pytest

from tests.core.helpers import Run, continued, red
from untilgreen.core.strategies.fixed import Fixed
from untilgreen.core.values.limits import Limits
from untilgreen.errors import ConfigError
from untilgreen.testing import story


@pytest.mark.parametrize("laps", [1, 2, 3, 20, 25])
def test_it_stops_after_exactly_the_planned_laps(laps: int) -> None:
    run = story("a b", Fixed(iterations=laps), detectors=(), limits=Limits(iterations=30))

    assert (run.outcome, len(run.laps)) == ("exhausted", laps)
    assert run.reason == (
        "the only planned lap is used" if laps == 1 else f"all {laps} planned laps are used"
    )
    assert run.ending is not None
    assert run.ending.confidence == 1.0


def test_three_laps_are_the_default() -> None:
    assert len(story("abc abd abe", Fixed()).laps) == 3


@pytest.mark.parametrize(("played", "laps"), [("-", 1), ("a -", 2), ("a b -", 3)])
def test_it_stops_early_on_green_also_in_the_last_lap(played: str, laps: int) -> None:
    run = story(played, Fixed(iterations=3))

    assert (run.outcome, len(run.laps)) == ("converged", laps)


def test_the_same_failure_three_times_is_stuck_and_the_signal_names_the_laps() -> None:
    run = story("a=", Fixed(iterations=30))

    assert (run.outcome, len(run.laps)) == ("stuck", 3)
    assert run.laps[-1].signals[0].laps == (1, 2, 3)
    assert run.reason.startswith("cycle in laps 1, 2, 3: ")


def test_ping_pong_is_stuck_after_three_rounds() -> None:
    run = story("a b a b a b a b", Fixed(iterations=30))

    assert (run.outcome, len(run.laps)) == ("stuck", 6)
    assert "in a cycle of 2 laps" in run.reason


def test_a_planned_lap_is_sure_and_says_how_many_are_left() -> None:
    run = Run(strategy=Fixed(iterations=3))

    decision = continued(run.lap(tests=red("a")))

    assert (decision.confidence, decision.metadata) == (1.0, {"laps_left": 2})
    assert decision.reason == "lap 1 of 3 is done"


def test_options_that_make_no_sense_are_refused() -> None:
    with pytest.raises(
        ConfigError, match=r"^fixed: iterations = 0 must be \"unlimited\" or a whole number, at least 1\.$"
    ):
        Fixed(iterations=0)
