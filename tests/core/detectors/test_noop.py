"""A turn that did nothing."""

import pytest

from tests.core.helpers import PASS, Run, Turn, red
from untilgreen.core.detectors.noop import Noop
from untilgreen.core.values.model import Promise, Reply


@pytest.mark.parametrize(
    ("text", "evidence"),
    [("I would change it.", "no file changed"), (" \n", "no file changed and the agent said nothing")],
)
def test_a_turn_that_changed_no_file_is_a_nudge(text: str, evidence: str) -> None:
    run = Run()
    run.lap(Turn(reply=Reply(text=text), tree="tree-0"), tests=red("a"))

    signal = Noop().detect(run.state)

    assert signal is not None
    assert (signal.kind, signal.strength, signal.laps, signal.confidence) == ("noop", "nudge", (1,), 0.6)
    assert signal.evidence == evidence
    assert signal.advice.startswith("Your last turn changed no file.")


def test_a_turn_that_changed_a_file_gives_no_signal() -> None:
    run = Run()
    run.lap(tests=red("a"))

    assert Noop().detect(run.state) is None


def test_a_turn_that_failed_is_left_to_another_detector() -> None:
    run = Run()
    run.lap(Turn(reply=Reply(error="crash"), tree="tree-0"), tests=red("a"))

    assert Noop().detect(run.state) is None


def test_where_only_the_claim_is_missing_nothing_has_to_change() -> None:
    run = Run(promise=Promise())
    run.lap(Turn(tree="tree-0"), tests=PASS)

    assert Noop().detect(run.state) is None


def test_before_the_first_lap_there_was_no_turn() -> None:
    assert Noop().detect(Run().state) is None
