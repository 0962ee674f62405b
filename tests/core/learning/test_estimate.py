"""The chance that the next lap is green."""

import pytest

from untilgreen.core.learning.estimate import OwnEstimate, Prior, chance, sigmoid
from untilgreen.core.learning.features import Features

PRIOR = Prior(version="test", intercept=-3.0, weights=(-1.0, -2.0, -0.5, 2.0))


def test_the_prior_weighs_the_features() -> None:
    assert PRIOR.logit(Features(moves=2, reply=0.5, outcome=1.0, distinct=0.25)) == pytest.approx(-6.0)


def test_own_numbers_move_the_prior_and_scale_it() -> None:
    assert chance(OwnEstimate(), -2.0).mean == pytest.approx(sigmoid(-2.0))
    assert chance(OwnEstimate(intercept=1.0, slope=0.5), -2.0).mean == pytest.approx(0.5)


def test_at_best_is_one_standard_deviation_above() -> None:
    own = OwnEstimate(covariance=(0.25, 0.1, 0.09))

    assert chance(own, 2.0).best == pytest.approx(sigmoid(2.0 + (0.25 + 2 * 2 * 0.1 + 4 * 0.09) ** 0.5))
    assert chance(OwnEstimate(), 2.0).best == chance(OwnEstimate(), 2.0).mean


def test_no_logit_is_too_far() -> None:
    assert 0 < sigmoid(-1e9) < 1e-12
    assert 1 - 1e-12 < sigmoid(1e9) < 1
