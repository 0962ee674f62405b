"""The next single thing to do, and whether a step in progress is still wanted."""

from typing import Any

import pytest

from tests.core.helpers import BROKEN, PASS, SKIP, TIMED_OUT, Run, Turn, gate, red
from untilgreen.core.detectors.cycle import Cycle
from untilgreen.core.loop.receive import Answer, Arrival, Cancel, Pause, Resume, Steer, Stop
from untilgreen.core.loop.step import (
    AwaitAnswer,
    AwaitResume,
    AwaitTurn,
    CheckGates,
    Conclude,
    Decide,
    Halt,
    Restore,
    TakeDefault,
    TakeSnapshot,
    Work,
    still_wanted,
)
from untilgreen.core.strategies.fixed import Fixed
from untilgreen.core.strategies.hybrid import Hybrid
from untilgreen.core.strategies.manual import Manual
from untilgreen.core.values.decision import Continue
from untilgreen.core.values.events import BriefOffered, GateChecked, SnapshotTaken, Steered, TurnEnded
from untilgreen.core.values.model import INTEGRITY_GATE, Outcome, Promise, Reply, Verdict
from untilgreen.core.values.rules import Signal
from untilgreen.core.values.state import RunState


def steps(run: Run, turn: Turn) -> list[str]:
    """Do the steps up to the next turn or the end, and return their names."""
    done: list[str] = []
    while (step := run.step) is not None and not (isinstance(step, Work) and done):
        done.append(
            f"{type(step).__name__} {step.phase}" if isinstance(step, TakeSnapshot) else type(step).__name__
        )
        run.perform(step, turn)
    return done


def test_a_green_lap_from_its_base_to_the_end() -> None:
    assert steps(Run(), Turn()) == ["TakeSnapshot base"]
    run = Run()
    run.until(Work)

    assert steps(run, Turn()) == [
        "Work",
        "TakeSnapshot turn",
        "CheckGates",
        "TakeSnapshot confirm",
        "Decide",
        "Conclude",
    ]


def test_a_red_lap_needs_no_confirmation() -> None:
    run = Run()
    run.until(Work)

    assert steps(run, Turn(verdicts={"tests": red("a")})) == [
        "Work",
        "TakeSnapshot turn",
        "CheckGates",
        "Decide",
        "TakeSnapshot base",
    ]


def test_the_baseline_is_a_lap_without_a_turn() -> None:
    run = Run(baseline=True)

    assert steps(run, Turn(verdicts={"tests": red("a")})) == [
        "TakeSnapshot turn",
        "CheckGates",
        "Decide",
        "TakeSnapshot base",
    ]


@pytest.mark.parametrize(("tests", "tried"), [(red("a"), True), (TIMED_OUT, True), (BROKEN, False)])
def test_before_the_first_lap_integrity_is_tried_after_red_gates_but_not_after_broken_ones(
    tests: Verdict, tried: bool
) -> None:
    run = Run(gate(), gate("integrity", kind=INTEGRITY_GATE, stage=2), baseline=True)
    run.perform(run.until(TakeSnapshot), Turn())
    run.perform(run.until(CheckGates), Turn(verdicts={"tests": tests}))

    assert run.step == (CheckGates(lap=0, stage=2, gates=("integrity",)) if tried else Decide(lap=0))


# Stages


def test_gates_of_one_stage_are_asked_for_together_and_early_stages_first() -> None:
    run = Run(gate("slow", stage=3), gate("lint"), gate("types"))

    assert run.until(CheckGates) == CheckGates(lap=1, stage=1, gates=("lint", "types"))
    run.perform(run.until(CheckGates), Turn())
    assert run.until(CheckGates) == CheckGates(lap=1, stage=3, gates=("slow",))


@pytest.mark.parametrize("verdict", [red("x"), BROKEN, TIMED_OUT])
def test_a_red_stage_spares_the_later_ones(verdict: Verdict) -> None:
    run = Run(gate("lint"), gate("tests", stage=2))
    run.lap(lint=verdict)

    assert set(run.last.verdicts) == {"lint"}


@pytest.mark.parametrize("verdict", [PASS, SKIP])
def test_a_stage_that_is_not_red_spares_nothing(verdict: Verdict) -> None:
    run = Run(gate("lint"), gate("tests", stage=2))
    run.lap(lint=verdict, tests=red("a"))

    assert set(run.last.verdicts) == {"lint", "tests"}


def test_a_gate_that_is_not_required_spares_nothing() -> None:
    run = Run(gate("style", required=False), gate("tests", stage=2))
    run.lap(style=red("x"))

    assert run.ending.outcome is Outcome.CONVERGED


# Confirming green


def test_files_that_moved_while_the_gates_ran_make_them_run_once_more() -> None:
    run = Run()
    moved = Turn(moved_to="moved-1")
    first = run.until(CheckGates, moved)
    run.perform(first, moved)
    run.perform(run.until(TakeSnapshot), moved)

    again = run.until(CheckGates)

    assert not first.again
    assert again == CheckGates(lap=1, stage=1, gates=("tests",), again=True)
    assert not still_wanted(first, run.state)


def test_after_the_second_time_the_verdict_stands_though_files_moved_again() -> None:
    run = Run()
    for tree in ("moved-1", "moved-2"):
        run.perform(run.until(CheckGates), Turn())
        confirm = run.until(TakeSnapshot)
        assert confirm == TakeSnapshot(lap=1, phase="confirm")
        run.perform(confirm, Turn(moved_to=tree))
    assert run.step == Decide(lap=1)
    run.perform(Decide(lap=1), Turn())

    assert run.ending.outcome is Outcome.CONVERGED
    assert run.last.snapshot == "moved-2"


def test_the_second_verdict_counts_also_when_it_is_red() -> None:
    run = Run()
    run.perform(run.until(CheckGates), Turn())
    run.perform(run.until(TakeSnapshot), Turn(moved_to="moved-1"))
    run.perform(run.until(CheckGates), Turn(verdicts={"tests": red("a")}))
    run.perform(run.until(Decide), Turn())

    assert run.last.failing == {"tests: a"}
    assert run.state.ending is None
    assert run.last.snapshot == "moved-1"


def test_files_that_stayed_are_confirmed_once() -> None:
    run = Run()
    run.perform(run.until(CheckGates), Turn())
    run.perform(run.until(TakeSnapshot), Turn())

    assert run.step == Decide(lap=1)


# What stays in the workspace


class RestoresAMissingLap:
    """Always continues; after `laps` laps it asks to restore lap 99, which does not exist."""

    def __init__(self, laps: int) -> None:
        self.laps = laps

    def decide(self, state: RunState, signals: tuple[Signal, ...]) -> Continue:
        return Continue(reason="on", restore=99 if len(state.laps) == self.laps else None)


def test_the_best_tree_is_left_when_a_run_ends_without_success() -> None:
    run = Run(strategy=Fixed(iterations=3))
    for ids in ("abc", "a", "ab"):
        run.lap(tests=red(*ids))

    assert run.step == Restore(lap=2, snapshot="tree-2", why="lap 2 has the files to keep")
    state = run.end()
    assert (state.outcome, state.final_snapshot) == (Outcome.EXHAUSTED, "tree-2")


def test_the_last_tree_is_left_where_the_spec_says_so() -> None:
    run = Run(strategy=Fixed(iterations=2), leave="last")
    run.lap(tests=red("a"))
    run.lap(tests=red("a", "b"))

    assert run.step == Conclude(outcome=Outcome.EXHAUSTED, reason="all 2 planned laps are used")


def test_nothing_is_restored_where_the_best_tree_is_already_there() -> None:
    run = Run(strategy=Fixed(iterations=2))
    run.lap(tests=red("a", "b"))
    run.lap(tests=red("a"))

    assert isinstance(run.step, Conclude)


def test_nothing_is_restored_where_the_best_lap_left_the_same_tree() -> None:
    run = Run(strategy=Fixed(iterations=2))
    run.lap(Turn(tree="same"), tests=red("a"))
    run.lap(Turn(tree="same"), tests=red("a", "b"))

    assert isinstance(run.step, Conclude)


def test_the_untouched_tree_is_left_when_every_lap_is_worse() -> None:
    run = Run(strategy=Fixed(iterations=1), baseline=True)
    run.lap(tests=red("a"))
    run.lap(tests=red("a", "b"))

    assert run.until(Restore) == Restore(lap=0, snapshot="tree-0", why="lap 0 has the files to keep")


def test_a_restored_tree_is_not_restored_twice() -> None:
    run = Run(strategy=Fixed(iterations=2))
    run.lap(tests=red("a"))
    run.lap(tests=red("a", "b"))
    run.perform(run.until(Restore), Turn())
    run.record(SnapshotTaken(at=99.0, lap=2, phase="final", snapshot="somebody changed a file"))

    assert isinstance(run.step, Conclude)


def test_an_accepted_lap_is_left_though_another_is_better() -> None:
    run = Run(strategy=Hybrid(base=2, bonus=0, accept_after=1, accept_floor=0.1))
    run.lap(tests=red("a", score=0.9))
    run.lap(tests=red("a", "b", score=0.5))

    assert run.until(Restore).lap == 1


def test_a_run_that_was_blocked_leaves_the_tree_for_a_person_to_look_at() -> None:
    run = Run(gate("tests"), gate("secrets", on_fail="stop"))
    run.lap(tests=red("a"))
    run.lap(tests=red("a", "b"), secrets=red("key"))

    assert isinstance(run.step, Conclude)
    assert run.end().final_snapshot == "tree-2"


def test_after_cancel_the_tree_is_kept_and_stays() -> None:
    run = Run()
    run.lap(tests=red("a"))
    run.offer()
    run.arrive(Cancel(at=0.0))

    assert run.step == TakeSnapshot(lap=2, phase="final")
    state = run.end()
    assert state.outcome is Outcome.CANCELLED
    assert len(state.laps) == 1


def test_a_tree_that_is_kept_already_is_not_kept_again_after_a_cancel() -> None:
    run = Run()
    run.until(CheckGates)
    run.arrive(Cancel(at=0.0))

    assert run.step == Conclude(outcome=Outcome.CANCELLED, reason="cancelled by command")


def test_a_lap_that_does_not_exist_is_not_restored() -> None:
    run = Run(strategy=RestoresAMissingLap(1))
    run.lap(tests=red("a"))

    assert isinstance(run.until(Work), Work)


# Cancelling steps


@pytest.mark.parametrize(
    ("arrival", "wanted"),
    [
        (Cancel(at=0.0), False),
        (Steer(at=0.0, id="1", note="Mind the time zone."), True),
        (Stop(at=0.0), True),
        (Pause(at=0.0), True),
    ],
)
def test_cancel_ends_the_agents_turn_and_nothing_else_does(arrival: Arrival, wanted: bool) -> None:
    run = Run()
    step = run.offer()
    assert still_wanted(step, run.state)

    assert run.arrive(arrival)

    assert still_wanted(step, run.state) is wanted


def test_a_turn_that_has_not_begun_is_ended_by_a_pause_and_a_stop() -> None:
    for arrival in (Pause(at=0.0), Stop(at=0.0)):
        run = Run()
        step = run.until(Work)
        run.arrive(arrival)

        assert not still_wanted(step, run.state)


def test_a_stage_continues_while_its_verdicts_come_in() -> None:
    run = Run(gate("a"), gate("b"), gate("c", stage=2))
    step = run.until(CheckGates)
    run.record(GateChecked(at=20.0, lap=1, gate="a", verdict=PASS))
    assert still_wanted(step, run.state)

    run.record(GateChecked(at=20.0, lap=1, gate="b", verdict=PASS))
    assert not still_wanted(step, run.state)


def test_gates_are_ended_by_cancel() -> None:
    run = Run()
    step = run.until(CheckGates)
    run.arrive(Cancel(at=0.0))

    assert not still_wanted(step, run.state)


def test_a_pause_is_waited_out_before_the_turn_and_not_within() -> None:
    run = Run()
    run.offer()
    run.arrive(Pause(at=0.0, reason="lunch"))
    run.record(TurnEnded(at=20.0, lap=1, reply=Reply()))
    run.perform(run.until(CheckGates), Turn(verdicts={"tests": red("a")}))
    run.perform(run.until(Decide), Turn())

    assert run.step == AwaitResume(reason="lunch")
    run.arrive(Resume(at=0.0))
    assert run.until(Work).lap == 2


# Questions


def test_a_stuck_run_whose_spec_says_so_waits_forever_and_mentions_no_default() -> None:
    for wait, until, default in (("default", 15 * 60, True), ("forever", None, False)):
        run = Run(gate("tests"), detectors=[Cycle()], remedies=("ask",), answers=True, wait=wait)
        while run.state.asked is None:
            run.lap(tests=red("a"))

        assert run.asked.until == until
        assert ("Without an answer" in run.asked.question) == default
        step = run.step
        assert isinstance(step, AwaitAnswer)
        assert (step.until is None) == (until is None)


def test_a_question_to_somebody_waits_a_quarter_of_an_hour_and_to_nobody_not_at_all() -> None:
    run = Run(gate(on_fail="ask"), answers=True)
    run.lap(tests=red("a"))

    assert run.until(AwaitAnswer).until == run.state.now + 15 * 60
    run.restart(answers=False)
    assert run.step == TakeDefault(choice="continue")


def test_an_answer_is_followed_by_a_decision_about_the_lap_that_was_asked_about() -> None:
    run = Run(strategy=Manual(), answers=True)
    run.lap(tests=red("a"))
    run.arrive(Answer(at=0.0, choice="continue"))

    assert run.step == Decide(lap=1)


@pytest.mark.parametrize("error", ["rate_limited", "network", "quota", "auth"])
def test_a_turn_that_could_not_work_is_decided_about_without_a_look_at_the_files(error: Any) -> None:
    run = Run()
    run.offer()
    run.record(TurnEnded(at=20.0, lap=1, reply=Reply(error=error)))

    assert run.step == Decide(lap=1)


def test_manual_waits_forever_even_where_nobody_can_answer() -> None:
    run = Run(strategy=Manual(), answers=False)
    run.lap(tests=red("a"))

    assert run.step == AwaitAnswer(until=None)


# Edge cases


def test_a_run_that_is_over_asks_for_nothing() -> None:
    run = Run()
    run.lap(tests=PASS)
    run.end()

    assert run.step is None


def test_a_journal_that_nothing_of_ours_wrote_comes_to_a_halt() -> None:
    run = Run()
    run.offer()
    run.record(SnapshotTaken(at=20.0, lap=1, phase="final", snapshot="x"))

    assert run.step == Halt(cause="no lap is in progress")


def test_the_first_brief_of_a_session_is_offered_from_there() -> None:
    run = Run(promise=Promise())
    run.restart(seat="session", session="s-1")
    step = run.until(Work)
    run.record(
        BriefOffered(at=9.0, lap=step.lap, agent=step.agent, seat="session"),
        Steered(at=9.0, id="1", note="n"),
    )

    assert run.step == AwaitTurn(lap=1)
