"""Whether the estimate from your own runs may decide."""

import pytest

from untilgreen.core.learning.course import Course
from untilgreen.core.learning.estimate import OwnEstimate, Prior
from untilgreen.core.learning.features import Features
from untilgreen.core.learning.track_record import end_by, learned, replayed

PRIOR = Prior(version="test", intercept=-2.0, weights=(-1.0, 0.0, 0.0, 0.0))
NEW, OLD = Features(), Features(moves=5, reply=1.0, outcome=1.0, distinct=0.1)
HOPELESS = Course(seen=(NEW, OLD, *(OLD,) * 10), green=False, hybrid=8)
LATE = Course(seen=(NEW, *(OLD,) * 9), green=True, hybrid=8)


def test_below_twenty_runs_nothing_is_decided_by_them() -> None:
    own = learned(PRIOR, [HOPELESS] * 19, 50)

    assert not own.active
    assert (own.runs, own.laps, own.why) == (19, 209, "19 runs so far, and it takes 20")


def test_where_stopping_earlier_is_better_the_numbers_decide() -> None:
    own = learned(PRIOR, [HOPELESS] * 40, 50)

    assert own.active
    assert own.why == "on your last 40 runs it would have been 5.00 laps a run better"


def test_where_hybrid_was_better_it_keeps_deciding() -> None:
    quick = Course(seen=(NEW, NEW, OLD), green=False, hybrid=2)
    sure = Course(seen=(NEW, NEW), green=True, hybrid=2)

    own = learned(PRIOR, [quick, sure] * 20, 50)

    assert not own.active
    assert own.why == "on your last 40 runs it would have been 0.50 laps a run worse"


def test_a_gain_that_may_be_chance_is_not_enough() -> None:
    lucky = Course(seen=(NEW, *(OLD,) * 8), green=True, hybrid=8)
    unlucky = Course(seen=(NEW, *(OLD,) * 19), green=False, hybrid=8)
    own = learned(PRIOR, [lucky, *[unlucky] * 3] * 10, 39)

    assert not own.active
    assert own.why.endswith("which may be chance")


def test_continuing_where_hybrid_stops_is_worth_a_success() -> None:
    again = replayed(PRIOR, [LATE] * 30, 50)

    assert (again.kept, again.kept_by_hybrid) == (30, 0)
    assert (again.saved, again.saved_by_hybrid) == (0, 60)
    assert again.gain == 48
    assert again.interval == (48, 48)


def test_a_run_is_judged_by_what_the_others_taught() -> None:
    odd = Course(seen=(NEW, OLD, OLD, OLD), green=True, hybrid=4)

    assert replayed(PRIOR, [odd] + [HOPELESS] * 29, 50).kept == 0
    assert replayed(PRIOR, [odd], 50).kept == 1


@pytest.mark.parametrize(("runs", "gain", "interval"), [(0, 0.0, None), (1, 0.0, None)])
def test_few_runs_have_no_interval(runs: int, gain: float, interval: None) -> None:
    one = Course(seen=(NEW,), green=True, hybrid=1)

    again = replayed(PRIOR, [one] * runs, 50)

    assert (again.gain, again.interval) == (gain, interval)


def test_no_run_ends_before_its_third_lap() -> None:
    assert end_by(PRIOR, OwnEstimate(intercept=-9.0), HOPELESS, 0.02) == 3
    assert end_by(PRIOR, OwnEstimate(intercept=9.0), HOPELESS, 0.02) == 12


def test_doubt_ends_no_run_earlier_than_hybrid_and_continues_none_longer() -> None:
    unsure = OwnEstimate(intercept=-1.0, covariance=(49.0, 0.0, 0.0))

    assert end_by(PRIOR, unsure, HOPELESS, 0.02) == HOPELESS.hybrid
