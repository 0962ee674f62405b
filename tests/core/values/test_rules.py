"""The two contracts for code that judges a run."""

import pytest

from untilgreen.core.defaults import default_detectors
from untilgreen.core.strategies.adaptive import Adaptive
from untilgreen.core.strategies.fixed import Fixed
from untilgreen.core.strategies.hybrid import Hybrid
from untilgreen.core.strategies.manual import Manual
from untilgreen.core.strategies.ralph import Ralph
from untilgreen.core.values.model import Outcome
from untilgreen.core.values.rules import Detector, Settles, Signal, Strategy, give_up, stuck

NUDGE = Signal(kind="noop", strength="nudge", laps=(3,), evidence="no file changed")
STUCK = Signal(kind="cycle", strength="stuck", laps=(1, 2, 3), evidence="the same failures", confidence=0.9)


def test_the_first_signal_that_says_stuck_counts() -> None:
    other = Signal(kind="claims", strength="stuck", laps=(3,), evidence="false claims")

    assert stuck((NUDGE, STUCK, other)) is STUCK
    assert stuck((NUDGE,)) is None


def test_giving_up_names_the_signal_and_its_laps() -> None:
    ending = give_up((NUDGE, STUCK))

    assert ending is not None
    assert ending.outcome is Outcome.STUCK
    assert ending.reason == "cycle in laps 1, 2, 3: the same failures"
    assert ending.confidence == 0.9
    assert ending.metadata == {"signal": "cycle"}


def test_a_nudge_is_no_reason_to_give_up() -> None:
    assert give_up((NUDGE,)) is None
    assert give_up(()) is None


@pytest.mark.parametrize("strategy", [Fixed(), Hybrid(), Ralph(), Adaptive(), Manual()])
def test_what_ships_keeps_the_contract_of_a_strategy(strategy: object) -> None:
    assert isinstance(strategy, Strategy)
    assert isinstance(strategy, Settles) is isinstance(strategy, Hybrid)


@pytest.mark.parametrize("detector", default_detectors())
def test_what_ships_keeps_the_contract_of_a_detector(detector: object) -> None:
    assert isinstance(detector, Detector)
