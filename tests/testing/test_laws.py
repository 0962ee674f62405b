"""Every shipped strategy and detector obeys the laws, and the laws notice those that don't.

Each test plays hundreds of runs, which takes three times as long under coverage, so it's not in `tests/core`.
"""

from __future__ import annotations

import random

import pytest

from tests.core.strategies.test_adaptive import learned
from tests.core.strategies.test_custom import Patient
from untilgreen import Adaptive, Continue, Decision, Fixed, Hybrid, Manual, Ralph, RunState, Signal, Strategy
from untilgreen.core.defaults import default_detectors
from untilgreen.core.detectors.claims import Claims
from untilgreen.core.detectors.stall import Stall
from untilgreen.core.values.rules import Detector
from untilgreen.testing import detector_laws, strategy_laws


@pytest.mark.parametrize(
    "strategy",
    [
        Fixed(),
        Fixed(iterations=5),
        Fixed(iterations=30),
        Hybrid(),
        Hybrid(base=2, bonus=3, accept_after=2),
        Hybrid(base=3, bonus=2, accept_after=3),
        Ralph(),
        Ralph(min=3),
        Ralph(min=4, max=8),
        Manual(),
        Adaptive(),
        pytest.param(learned(), id="Adaptive, learned"),
        pytest.param(learned(explore=1.0), id="Adaptive, learned, exploring"),
        pytest.param(learned(worth="$3"), id="Adaptive, learned, by price"),
    ],
    ids=repr,
)
def test_shipped_strategies_obey_the_laws(strategy: Strategy) -> None:
    strategy_laws(strategy)


def test_a_strategy_that_anyone_could_write_obeys_the_laws() -> None:
    strategy_laws(Patient(3))


@pytest.mark.parametrize("detector", [*default_detectors(), Claims(rejected=1), Stall(laps=2)], ids=repr)
def test_shipped_detectors_obey_the_laws(detector: Detector) -> None:
    detector_laws(detector)


class Moody:
    def decide(self, state: RunState, signals: tuple[Signal, ...]) -> Decision:
        return Continue(reason=f"because {random.random()}")


class Speechless:
    def decide(self, state: RunState, signals: tuple[Signal, ...]) -> Decision:
        return Continue(reason=" ")


class Sure:
    def decide(self, state: RunState, signals: tuple[Signal, ...]) -> Decision:
        return Continue(reason="certainly", confidence=7)


@pytest.mark.parametrize(
    ("strategy", "law"), [(Moody(), "and then"), (Speechless(), "no reason"), (Sure(), "confidence of 7")]
)
def test_a_strategy_that_breaks_a_law_is_named(strategy: Strategy, law: str) -> None:
    with pytest.raises(AssertionError, match=law) as caught:
        strategy_laws(strategy)

    assert type(strategy).__name__ in str(caught.value)


class Nameless:
    def detect(self, state: RunState) -> Signal | None:
        return Signal(kind="x", strength="nudge", laps=(99,), evidence="e")


class Mute:
    def detect(self, state: RunState) -> Signal | None:
        laps = tuple(lap.number for lap in state.laps)
        return Signal(kind="x", strength="nudge", laps=laps, evidence="") if laps else None


@pytest.mark.parametrize(("detector", "law"), [(Nameless(), "names laps"), (Mute(), "no evidence")])
def test_a_detector_that_breaks_a_law_is_named(detector: Detector, law: str) -> None:
    with pytest.raises(AssertionError, match=law):
        detector_laws(detector)
