"""Approvals by people, allowed paths, and remembered verdicts."""

from __future__ import annotations

import pytest

from tests.core.helpers import Run, gate
from untilgreen.core.loop.fold import apply, fold
from untilgreen.core.loop.receive import Answer, Stop, receive, refusal
from untilgreen.core.loop.step import (
    AwaitAnswer,
    CheckGates,
    Conclude,
    Decide,
    TakeSnapshot,
    gate_waiting_for_people,
    next_step,
)
from untilgreen.core.scoring.known_verdicts import known_verdict
from untilgreen.core.values.events import (
    Allowed,
    Approved,
    Attached,
    BriefOffered,
    Event,
    GateChecked,
    RunStarted,
    SnapshotTaken,
    TurnEnded,
)
from untilgreen.core.values.model import GateSpec, Outcome, Plan, Promise, Reply, Verdict
from untilgreen.core.values.state import RunState

PASS = Verdict(status="pass", score=1.0)
REVIEW = GateSpec(name="review", kind="approval", stage=2, options={"people": ["ann", "bob"], "need": 2})


def begun(*gates: GateSpec) -> list[Event]:
    """The events of a first lap, up to the snapshot after its turn."""
    return [
        RunStarted(at=0, run="r", plan=Plan(task="t", gates=gates, baseline=False)),
        Attached(at=1),
        SnapshotTaken(at=1, lap=1, phase="base", snapshot="t0"),
        BriefOffered(at=2, lap=1, agent="agent"),
        TurnEnded(at=3, lap=1, reply=Reply(text="done")),
        SnapshotTaken(at=4, lap=1, phase="turn", snapshot="t1"),
    ]


def state_of(*events: Event) -> RunState:
    state = fold(events)
    assert state is not None
    return state


def waiting() -> RunState:
    checked = GateChecked(at=5, lap=1, gate="tests", verdict=PASS)
    return state_of(*begun(GateSpec(name="tests"), REVIEW), checked)


def answered(state: RunState, by: str, choice: str = "approve", note: str = "") -> RunState:
    arrival = Answer(at=9, by=by, choice=choice, note=note)
    assert refusal(state, arrival) == ""
    for event in receive(state, arrival):
        state = apply(state, event)
    return state


def test_an_approval_waits_without_end_once_the_rest_is_green() -> None:
    assert isinstance(next_step(state_of(*begun(GateSpec(name="tests"), REVIEW))), CheckGates)
    assert next_step(waiting()) == AwaitAnswer(until=None)
    assert gate_waiting_for_people(waiting()) == REVIEW


def test_enough_named_people_make_it_pass() -> None:
    state = answered(waiting(), "ann")
    assert next_step(state) == AwaitAnswer(until=None)

    state = answered(state, "bob")

    assert gate_waiting_for_people(state) is None
    assert next_step(state) == CheckGates(lap=1, stage=2, gates=("review",))
    assert state.open is not None
    assert known_verdict(state, state.open, REVIEW) == PASS
    state = apply(state, GateChecked(at=10, lap=1, gate="review", verdict=PASS))
    assert next_step(state) == TakeSnapshot(lap=1, phase="confirm")


def test_one_no_makes_it_fail_and_says_who_and_why() -> None:
    state = answered(waiting(), "ann", "reject", note="the API changed")

    assert state.open is not None
    verdict = known_verdict(state, state.open, REVIEW)
    assert verdict is not None
    assert verdict.status == "fail"
    assert verdict.findings[0].message == "ann rejected it: the API changed"
    state = apply(state, GateChecked(at=10, lap=1, gate="review", verdict=verdict))
    assert next_step(state) == Decide(lap=1)


def test_a_stranger_a_second_answer_and_another_word_are_refused() -> None:
    state = answered(waiting(), "ann")

    assert "can't answer" in refusal(state, Answer(at=9, by="eve", choice="approve"))
    assert "already" in refusal(state, Answer(at=9, by="ann", choice="reject"))
    assert "'approve' or 'reject'" in refusal(state, Answer(at=9, by="bob", choice="continue"))
    assert "not asking anything" in refusal(
        state_of(*begun(REVIEW)[:3]), Answer(at=9, by="ann", choice="approve")
    )


def test_an_approval_is_about_one_snapshot_only() -> None:
    state = waiting()
    other = Approved(at=9, gate="review", snapshot="t9", by="ann", yes=True)

    state = apply(apply(state, other), Approved(at=9, gate="other", snapshot="t1", by="bob", yes=True))

    assert state.open is not None
    assert known_verdict(state, state.open, REVIEW) is None


def test_anybody_may_approve_where_no_names_are_given() -> None:
    gate = GateSpec(name="review", kind="approval")
    state = answered(state_of(*begun(gate)), "eve")

    assert state.open is not None
    assert known_verdict(state, state.open, gate) == PASS


def test_a_path_can_be_allowed_at_any_time() -> None:
    state = waiting()
    arrival = Answer(at=9, by="ann", choice="allow", argument="tests/test_a.py")

    assert receive(state, arrival) == (Allowed(at=9, by="ann", path="tests/test_a.py"),)
    assert apply(state, receive(state, arrival)[0]).allowed == ("tests/test_a.py",)
    assert "needs a path" in refusal(state, Answer(at=9, by="ann", choice="allow"))


def test_an_overlong_note_is_refused_with_an_answer_too() -> None:
    assert "characters" in refusal(waiting(), Answer(at=9, by="ann", choice="approve", note="x" * 9_000))


@pytest.mark.parametrize("kind", ["judge", "ci"])
def test_a_judge_is_not_asked_twice_about_the_same_files(kind: str) -> None:
    judge = GateSpec(name="judge", kind=kind)
    red = Verdict(status="fail")
    state = apply(state_of(*begun(judge)), GateChecked(at=5, lap=1, gate="judge", verdict=red))
    assert state.open is not None

    assert known_verdict(state, state.open, judge) == red
    moved = apply(state, SnapshotTaken(at=6, lap=1, phase="turn", snapshot="t2"))
    assert moved.open is not None
    assert known_verdict(moved, moved.open, judge) is None


def test_an_error_of_a_judge_is_not_remembered() -> None:
    judge = GateSpec(name="judge", kind="judge")
    broken = GateChecked(at=5, lap=1, gate="judge", verdict=Verdict(status="error"))
    state = apply(state_of(*begun(judge)), broken)

    assert state.remembered == {}


def awaiting_approval() -> Run:
    run = Run(gate("tests"), gate("review", kind="approval", stage=2))
    run.until(AwaitAnswer)
    return run


def test_an_undecided_approval_is_not_run_with_the_other_gates_of_its_stage() -> None:
    run = Run(gate("tests"), REVIEW)

    assert run.until(CheckGates).gates == ("tests",)
    run.record(GateChecked(at=20.0, lap=1, gate="tests", verdict=PASS))
    assert run.step == AwaitAnswer(until=None)


def test_an_approval_that_is_not_asked_for_any_more_is_recorded_with_the_others() -> None:
    run = Run(gate("tests"), gate("review", kind="approval", when="claimed"), promise=Promise(text="DONE"))

    assert run.until(CheckGates).gates == ("tests", "review")


def test_time_does_not_run_while_an_approval_is_waited_for() -> None:
    run = awaiting_approval()
    elapsed = run.state.elapsed
    run.arrive(Answer(at=90_000.0, by="ann", choice="approve"))

    assert run.state.elapsed == elapsed


def test_a_stop_while_an_approval_is_waited_for_ends_the_run_at_once() -> None:
    run = awaiting_approval()
    run.arrive(Stop(at=0.0, reason="enough"))

    assert run.step == Conclude(outcome=Outcome.CANCELLED, reason="enough")
