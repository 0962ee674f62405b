"""What is known about a run, and what follows from it without any decision."""

import pytest

from tests.core.helpers import Run, Turn, gate, red
from untilgreen.core.values.model import Reply
from untilgreen.core.values.state import Best, Lap


def test_the_last_lap_is_the_baseline_until_there_is_another() -> None:
    run = Run(baseline=True)
    assert run.state.last is None

    run.lap(tests=red("a"))
    assert run.state.last is run.state.baseline
    assert run.state.last is not None

    run.lap(tests=red("a"))
    assert run.state.last is run.last


def test_lap_zero_is_the_untouched_tree_with_and_without_a_baseline() -> None:
    measured, unmeasured = Run(baseline=True), Run()
    assert measured.state.snapshot_of(0) is None
    measured.lap(tests=red("a"))
    measured.lap(tests=red("a"))
    unmeasured.lap(tests=red("a"))

    assert measured.state.snapshot_of(0) == unmeasured.state.snapshot_of(0) == "tree-0"
    assert measured.state.snapshot_of(1) == unmeasured.state.snapshot_of(1) == "tree-1"
    assert measured.state.snapshot_of(2) is None


@pytest.mark.parametrize(("answers", "unanswered"), [(False, ("tests",)), (True, ())])
def test_a_gate_that_asked_is_unanswered_where_nobody_could_answer(
    answers: bool, unanswered: tuple[str, ...]
) -> None:
    run = Run(gate(on_fail="ask"), gate("style"), answers=answers)
    run.lap(tests=red("a"), style=red("b"))

    assert run.last.escalated == ("tests",)
    assert run.last.unanswered == unanswered


def test_a_lap_knows_how_long_it_took() -> None:
    run = Run(started=1000.0)
    run.lap(Turn(seconds=30), tests=red("a"))

    assert 30 < run.last.duration < 40


def test_no_field_of_a_state_its_plan_or_its_laps_can_be_set() -> None:
    run = Run()
    run.lap(tests=red("a"))

    fields = ((run.state, "elapsed"), (run.state, "laps"), (run.state.plan, "task"), (run.last, "score"))
    for value, name in fields:
        with pytest.raises(AttributeError, match="immutable"):
            setattr(value, name, None)
    assert isinstance(run.state.laps, tuple)


def test_a_lap_moved_when_its_tree_is_another_than_before() -> None:
    run = Run()
    run.lap(Turn(tree="tree-0"), tests=red("a"))
    assert not run.last.moved

    run.lap(Turn(tree="tree-x"), tests=red("a"))
    assert run.last.moved


@pytest.mark.parametrize(
    ("error", "failed"),
    [
        ("crash", True),
        ("timeout", True),
        ("stalled", True),
        ("interrupted", True),
        ("permission", True),
        ("question", False),
        (None, False),
    ],
)
def test_a_lap_whose_agent_failed_is_no_evidence_of_circles(error: str | None, failed: bool) -> None:
    lap = Lap(number=1, reply=Reply(error=error))  # type: ignore[arg-type]

    assert lap.failed is failed
    assert lap.evidence is not failed


def test_a_lap_that_lacks_only_the_claim_is_no_evidence_of_circles() -> None:
    assert not Lap(number=1, awaiting_claim=True).evidence


def test_more_gates_count_more_than_score_and_score_more_than_findings() -> None:
    ranks = [
        Best(lap=1, snapshot=None, passed=passed, score=score, failures=count).rank
        for passed, score, count in [(0, 0.9, 1), (1, 0.1, 50), (1, 0.2, 60), (1, 0.2, 50)]
    ]

    assert ranks == sorted(ranks)
    assert len(set(ranks)) == 4
