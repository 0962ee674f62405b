"""Decisions are values that survive the journal."""

from typing import Any

import pytest
from msgspec import json

from untilgreen.core.values.decision import PATIENCE, Ask, Continue, Decision, Finish
from untilgreen.core.values.model import Outcome


@pytest.mark.parametrize(
    "decision",
    [
        Continue(reason="on"),
        Continue(
            reason="on", confidence=0.8, hint="h", remedy="best", restore=0, agent="two", metadata={"n": 1}
        ),
        Finish(
            outcome=Outcome.STUCK, reason="circles", confidence=0.9, leave=0, metadata={"signal": "cycle"}
        ),
        Ask(question="Go on?", choices=("yes", "no"), default="no", until=None, metadata={"gates": ["a"]}),
    ],
)
def test_a_decision_survives_the_journal(decision: Decision) -> None:
    assert json.decode(json.encode(decision), type=Decision) == decision


@pytest.mark.parametrize(
    ("kind", "given", "foreign"),
    [
        (Continue, {"reason": "on"}, {"outcome": Outcome.STUCK}),
        (Finish, {"outcome": Outcome.STUCK, "reason": "circles"}, {"hint": "try again"}),
        (Ask, {"question": "Go on?", "choices": ("yes",), "default": "yes"}, {"outcome": Outcome.STUCK}),
    ],
)
def test_no_decision_can_say_two_things(kind: Any, given: dict[str, Any], foreign: dict[str, Any]) -> None:
    assert kind(**given)
    with pytest.raises(TypeError, match="Unexpected keyword argument"):
        kind(**given, **foreign)


def test_a_decision_is_sure_and_says_nothing_more_unless_it_does() -> None:
    for decision in (
        Continue(reason="on"),
        Finish(outcome=Outcome.STUCK, reason="circles"),
        Ask(question="Go on?", choices=("yes",), default="yes"),
    ):
        assert decision.confidence == 1.0
        assert decision.metadata == {}


def test_a_question_waits_a_quarter_of_an_hour_unless_it_says_otherwise() -> None:
    assert Ask(question="Go on?", choices=("yes",), default="yes").until == PATIENCE == 15 * 60
