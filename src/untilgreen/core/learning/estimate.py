"""The chance that the next lap is green: a shared prior, and two numbers of your own.

The prior is a logistic model of the four features, fitted to recorded runs of other people's agents. Your
own runs shift it (`intercept`) and say how far it can be trusted (`slope`): its logit is multiplied by the
slope and raised by the intercept. Their covariance says how uncertain these numbers are.
"""

from __future__ import annotations

from math import exp, sqrt

from msgspec import Struct

from untilgreen.core.learning.features import Features

UPPER = 1.0
"""Standard deviations between the estimate and its upper end."""
_FARTHEST = 30.0
"""Logits beyond this count as 0 or 1."""


class Prior(Struct, frozen=True, kw_only=True):
    """The shared part: five numbers, and how far your own runs may be from them."""

    version: str
    intercept: float
    weights: tuple[float, float, float, float]
    """Of moves, reply, outcome and distinct."""
    intercept_sd: float = 1.9
    slope_sd: float = 0.5

    def logit(self, seen: Features) -> float:
        """The logit by the prior alone."""
        weighted = sum(weight * value for weight, value in zip(self.weights, seen.vector, strict=True))
        return self.intercept + weighted


class OwnEstimate(Struct, frozen=True, kw_only=True):
    """What was learned from your own runs with one agent, and whether it may decide."""

    intercept: float = 0.0
    slope: float = 1.0
    covariance: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Of intercept with itself, of intercept with slope, of slope with itself."""
    runs: int = 0
    laps: int = 0
    """Laps that were followed by another one, so that their effect is known."""
    active: bool = False
    why: str = ""
    """Why the estimate decides, or does not."""


class Chance(Struct, frozen=True, kw_only=True):
    """The chance that the next lap is green."""

    mean: float
    best: float
    """Its upper end: one standard deviation above the mean."""


def chance(own: OwnEstimate, logit: float) -> Chance:
    """The chance by the prior and your own numbers."""
    middle = own.intercept + own.slope * logit
    both, mixed, slopes = own.covariance
    spread = sqrt(max(0.0, both + 2 * logit * mixed + logit * logit * slopes))
    return Chance(mean=sigmoid(middle), best=sigmoid(middle + UPPER * spread))


def pays(likely: Chance, price: float, *, hybrid_stops: bool) -> bool:
    """Whether another lap is worth its price.

    Only a clear estimate overrules `hybrid`: a run ends earlier if even the upper end is below the price, and
    continues longer if the mean is not.
    """
    return (likely.mean if hybrid_stops else likely.best) >= price


def sigmoid(logit: float) -> float:
    """A logit as a chance."""
    return 1 / (1 + exp(-max(-_FARTHEST, min(_FARTHEST, logit))))
