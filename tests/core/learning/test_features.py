"""What the laps of a run say about the next one."""

import pytest

from tests.core.helpers import Run, Turn, gate, red
from untilgreen.core.learning.features import Features, features
from untilgreen.core.values.limits import Limits
from untilgreen.core.values.model import Reply, Verdict

LONG = " ".join(f"word{letter}{other}" for letter in "abcdefgh" for other in "klmnopq")


def said(text: str) -> Turn:
    return Turn(reply=Reply(text=text))


def bare(text: str) -> Verdict:
    return Verdict(status="fail", excerpt=text)


def test_a_first_lap_repeats_nothing() -> None:
    run = Run()
    run.lap(said("hello"), tests=red("a"))

    assert features(run.state.laps) == Features(moves=0, reply=0.0, outcome=0.0, distinct=1.0)


def test_the_same_reply_with_the_same_outcome_is_a_move_and_five_are_the_most() -> None:
    run = Run()
    seen = []
    for _ in range(8):
        run.lap(said("the same thing"), tests=red("a"))
        seen.append(features(run.state.laps).moves)

    assert seen == [0, 1, 2, 3, 4, 5, 5, 5]
    assert features(run.state.laps).distinct == 1 / 8


def test_another_outcome_is_another_move() -> None:
    run = Run()
    for finding in "aba":
        run.lap(said("the same thing"), tests=red(finding))

    assert features(run.state.laps).moves == 1


def test_likeness_is_that_of_the_most_like_of_three_laps_before() -> None:
    run = Run()
    for text, findings in ((LONG, "ab"), ("other words", "cd"), ("more of them", "ef"), (LONG, "abg")):
        run.lap(said(text), tests=red(*findings))
    assert features(run.state.laps).reply == 1.0
    assert features(run.state.laps).outcome == pytest.approx(2 / 3)

    run.lap(said("new"), tests=red("h"))
    run.lap(said(LONG + " and more"), tests=red("c", "d"))
    assert 0.8 < features(run.state.laps).reply < 1.0
    assert features(run.state.laps).outcome == 0.0


def test_outputs_without_findings_are_compared_by_their_words() -> None:
    run = Run()
    run.lap(tests=bare(LONG))
    run.lap(tests=bare(LONG + " but the end is another one"))
    assert 0.8 < features(run.state.laps).outcome < 1.0

    run.lap(tests=bare(LONG))
    assert features(run.state.laps).outcome == 1.0
    run.lap(tests=red("a"))
    assert features(run.state.laps).outcome == 0.0


def test_the_least_alike_gate_counts() -> None:
    run = Run(gate("tests"), gate("lint"))
    run.lap(tests=bare(LONG), lint=bare("short"))
    run.lap(tests=bare(LONG), lint=bare("other"))

    assert features(run.state.laps).outcome == 0.0


def test_a_gate_without_an_earlier_verdict_has_no_likeness() -> None:
    run = Run(gate("tests"), gate("late", stage=2))
    run.lap(tests=red("a"))
    run.lap(late=red("b"))

    assert features(run.state.laps).outcome == 0.0


def test_laps_before_the_last_sixty_are_not_looked_at() -> None:
    run = Run(limits=Limits(iterations=99))
    for _ in range(2):
        run.lap(said("once"), tests=red("once"))
    assert features(run.state.laps).distinct == 0.5
    for number in range(60):
        run.lap(said(f"again {'x' * number}"), tests=red(f"id{'x' * number}"))

    assert features(run.state.laps).distinct == 1.0
