"""Fitting your own two numbers to your laps."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from untilgreen.core.learning.course import Lesson
from untilgreen.core.learning.estimate import Prior, chance, sigmoid
from untilgreen.core.learning.fitting import fit

PRIOR = Prior(version="test", intercept=-3.0, weights=(-1.0, -2.0, -0.5, 2.0))


def lessons(logit: float, green: int, of: int) -> list[Lesson]:
    return [Lesson(logit, place < green, 1.0) for place in range(of)]


def test_without_laps_the_result_is_the_prior_with_its_own_uncertainty() -> None:
    own = fit(PRIOR, [])

    assert (own.intercept, own.slope, own.laps) == (0.0, 1.0, 0)
    assert own.covariance == pytest.approx((1.9**2, 0.0, 0.25))


def test_many_laps_overrule_the_prior() -> None:
    own = fit(PRIOR, lessons(-4.0, 600, 1000) + lessons(-1.0, 900, 1000))

    assert chance(own, -4.0).mean == pytest.approx(0.6, abs=0.02)
    assert chance(own, -1.0).mean == pytest.approx(0.9, abs=0.02)


def test_more_laps_make_it_surer() -> None:
    few, many = fit(PRIOR, lessons(-3.0, 1, 20)), fit(PRIOR, lessons(-3.0, 50, 1000))

    assert many.covariance[0] < few.covariance[0]
    assert chance(many, -3.0).best - chance(many, -3.0).mean < chance(few, -3.0).best - chance(few, -3.0).mean


def test_a_prior_that_says_nothing_here_is_hardly_listened_to() -> None:
    own = fit(PRIOR, lessons(-5.0, 200, 400) + lessons(-1.0, 200, 400))

    assert own.slope < 0.2


def test_the_weight_of_a_lap_counts() -> None:
    half = [Lesson(-1.0, True, 0.5)] * 40

    assert fit(PRIOR, half).intercept == pytest.approx(fit(PRIOR, [Lesson(-1.0, True, 1.0)] * 20).intercept)


lesson = st.builds(Lesson, st.floats(-40, 40), st.booleans(), st.floats(0.01, 1.0))


@given(st.lists(lesson, max_size=40))
def test_whatever_the_laps_it_settles_at_a_point_that_no_step_improves(laps: list[Lesson]) -> None:
    own = fit(PRIOR, laps)

    both, mixed, slopes = own.covariance
    assert both > 0
    assert slopes > 0
    assert mixed**2 < both * slopes
    pull = [own.intercept / PRIOR.intercept_sd**2, (own.slope - 1) / PRIOR.slope_sd**2]
    for logit, green, weight in laps:
        off = weight * (green - sigmoid(own.intercept + own.slope * logit))
        pull = [pull[0] - off, pull[1] - off * logit]
    assert max(map(abs, pull)) < 1e-3
