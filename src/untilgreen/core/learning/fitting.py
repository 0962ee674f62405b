"""Fits your own two numbers to your laps, by a damped Newton's method."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, hypot, log1p
from typing import NamedTuple

from untilgreen.core.learning.course import Lesson
from untilgreen.core.learning.estimate import OwnEstimate, Prior, sigmoid

_MOST_STEPS = 50
_LONGEST_STEP = 1.0
"""Without it, laps that are all alike make the numbers diverge, as for one of 23 agents."""
_SETTLED = 1e-8


def fit(prior: Prior, told: Sequence[Lesson]) -> OwnEstimate:
    """The most likely intercept and slope, and how certain they are."""
    intercept, slope = 0.0, 1.0
    best = _loss(prior, told, intercept, slope)
    steps = _MOST_STEPS
    while steps and (step := _damped_step(prior, told, (intercept, slope), best)):
        intercept, slope, best = step
        steps -= 1
    return OwnEstimate(
        intercept=intercept,
        slope=slope,
        covariance=_curvature(prior, told, intercept, slope).covariance(),
        laps=len(told),
    )


def _damped_step(
    prior: Prior, told: Sequence[Lesson], at: tuple[float, float], loss: float
) -> tuple[float, float, float] | None:
    """The next point and its loss; None if no step reduces the loss."""
    aside, along = _curvature(prior, told, *at).step()
    size = hypot(aside, along)
    scale = min(1.0, _LONGEST_STEP / size) if size else 0.0
    while scale * size > _SETTLED:
        there = at[0] + scale * aside, at[1] + scale * along
        if (less := _loss(prior, told, *there)) <= loss:
            return *there, less
        scale /= 2
    return None


class _Curvature(NamedTuple):
    """The gradient of the loss (`down_*`) and its curvature."""

    down_intercept: float
    down_slope: float
    both: float
    mixed: float
    slopes: float

    def covariance(self) -> tuple[float, float, float]:
        whole = self.both * self.slopes - self.mixed * self.mixed
        return self.slopes / whole, -self.mixed / whole, self.both / whole

    def step(self) -> tuple[float, float]:
        one, mixed, other = self.covariance()
        return (
            one * self.down_intercept + mixed * self.down_slope,
            mixed * self.down_intercept + other * self.down_slope,
        )


def _curvature(prior: Prior, told: Sequence[Lesson], intercept: float, slope: float) -> _Curvature:
    tight, tighter = prior.intercept_sd**-2, prior.slope_sd**-2
    down, tilt = -tight * intercept, -tighter * (slope - 1)
    both, mixed, slopes = tight, 0.0, tighter
    for logit, green, weight in told:
        said = sigmoid(intercept + slope * logit)
        off, curve = weight * (green - said), weight * said * (1 - said)
        down, tilt = down + off, tilt + off * logit
        both, mixed, slopes = both + curve, mixed + curve * logit, slopes + curve * logit * logit
    return _Curvature(down, tilt, both, mixed, slopes)


def _loss(prior: Prior, told: Sequence[Lesson], intercept: float, slope: float) -> float:
    """The loss: the negative log-likelihood, plus the distance from the prior."""
    far = (intercept / prior.intercept_sd) ** 2 + ((slope - 1) / prior.slope_sd) ** 2
    return far / 2 + sum(
        weight * _softplus(-logit if green else logit)
        for logit, green, weight in (
            (intercept + slope * logit, green, weight) for logit, green, weight in told
        )
    )


def _softplus(logit: float) -> float:
    """log(1 + e^x), without overflow."""
    return max(logit, 0.0) + log1p(exp(-abs(logit)))
