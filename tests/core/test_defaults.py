"""What a run gets when its spec does not say otherwise."""

import pytest

from tests.core.helpers import gate
from untilgreen.core.defaults import DETECTORS, default_detectors, promise_of, tuned_for, with_claim
from untilgreen.core.detectors.cycle import Cycle
from untilgreen.core.detectors.similar import Similar
from untilgreen.core.strategies.hybrid import Hybrid
from untilgreen.core.strategies.ralph import Ralph
from untilgreen.core.values.model import Promise
from untilgreen.core.values.rules import Detector
from untilgreen.errors import ConfigError


def test_there_is_one_default_detector_for_each_name() -> None:
    detectors = default_detectors()

    assert tuple(type(detector).__name__.lower() for detector in detectors) == DETECTORS
    assert all(isinstance(detector, Detector) for detector in detectors)


def test_ralph_tunes_the_similar_detector_and_leaves_the_others() -> None:
    detectors = (Cycle(repeats=5), Similar())

    assert tuned_for(detectors, Ralph(similarity=0.8, window=4)) == (
        Cycle(repeats=5),
        Similar(similarity=0.8, window=4),
    )


def test_other_strategies_leave_the_detectors_alone() -> None:
    assert tuned_for([Similar(window=9)], Hybrid()) == (Similar(window=9),)


def test_ralph_always_has_a_promise() -> None:
    ralph = Ralph(promise="SHIPPED", min=3, tokens=True)

    assert promise_of(ralph, None) == Promise(text="SHIPPED", min=3, tokens=True)
    assert promise_of(ralph, "ALL_FIXED") == Promise(text="ALL_FIXED", min=3, tokens=True)


def test_other_strategies_have_the_promise_of_the_spec() -> None:
    assert promise_of(Hybrid(), None) is None
    assert promise_of(Hybrid(), "DONE") == Promise(text="DONE")


@pytest.mark.parametrize("text", ["", "  ", "all\ndone"])
def test_a_promise_is_some_words_on_one_line(text: str) -> None:
    with pytest.raises(ConfigError, match="must be one line of text, for example 'DONE'"):
        promise_of(Hybrid(), text)


def test_ralph_with_an_empty_promise_is_refused_too() -> None:
    with pytest.raises(ConfigError, match="must be one line of text"):
        promise_of(Ralph(promise=" "), None)


def test_a_promise_is_one_more_required_gate_behind_all_that_look_at_the_work() -> None:
    gates = with_claim([gate("tests"), gate("slow", stage=4)], Promise())

    assert [each.name for each in gates] == ["tests", "slow", "claim"]
    assert (gates[-1].kind, gates[-1].stage, gates[-1].required) == ("claim", 5, True)


def test_a_promise_alone_is_enough() -> None:
    assert [each.name for each in with_claim([], Promise())] == ["claim"]


def test_without_a_promise_the_gates_stay_as_they_are() -> None:
    assert with_claim([gate("tests")], None) == (gate("tests"),)


def test_neither_gate_nor_promise_is_an_error_that_names_both() -> None:
    with pytest.raises(ConfigError, match=r"no gate and no promise.*--gate 'pytest -q'.*--promise DONE"):
        with_claim([], None)


def test_gates_that_are_all_optional_could_never_say_that_the_task_is_done() -> None:
    with pytest.raises(ConfigError, match="No gate is required"):
        with_claim([gate("lint", required=False)], None)
