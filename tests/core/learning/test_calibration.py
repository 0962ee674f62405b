"""Whether predictions came true."""

from untilgreen.core.learning.calibration import calibration
from untilgreen.core.learning.course import Course
from untilgreen.core.learning.estimate import Prior
from untilgreen.core.learning.features import Features

PRIOR = Prior(version="test", intercept=-1.0, weights=(-2.0, 0.0, 0.0, 0.0))
NEW, OLD = Features(), Features(moves=5)


def test_laps_are_grouped_by_their_predicted_chance() -> None:
    good = Course(seen=(NEW, NEW), green=True, hybrid=2)
    bad = Course(seen=(OLD, OLD, OLD), green=False, hybrid=3)

    unlikely, likely = calibration(PRIOR, [good, bad] * 30)

    assert (unlikely.laps, unlikely.was) == (60, 0.0)
    assert unlikely.said < 0.02
    assert (likely.laps, likely.was) == (30, 1.0)
    assert likely.said > 0.5


def test_without_runs_there_are_no_predictions() -> None:
    assert calibration(PRIOR, []) == ()
