"""From events to state: the state holds nothing that is not in the journal."""

from typing import Any

import pytest

from tests.core.helpers import BROKEN, PASS, Run, Turn, gate, red
from untilgreen.core.briefing.brief import compose
from untilgreen.core.loop.fold import apply, fold
from untilgreen.core.loop.receive import Answer, Cancel, Pause, Resume, Steer
from untilgreen.core.loop.step import AwaitTurn, CheckGates, Decide, Halt, Restore, TakeSnapshot, Work
from untilgreen.core.strategies.manual import Manual
from untilgreen.core.values.events import (
    AgentSwitched,
    Answered,
    Attached,
    BriefOffered,
    Event,
    GateChecked,
    Halted,
    Interrupted,
    LapVoided,
    Paused,
    Resumed,
    RunFinished,
    RunStarted,
    SnapshotTaken,
    Steered,
    TurnEnded,
)
from untilgreen.core.values.limits import Limits
from untilgreen.core.values.model import Outcome, PartSpec, Plan, Reply, Usage
from untilgreen.core.values.state import RunState
from untilgreen.errors import JournalDamaged

STARTED = RunStarted(at=1.0, run="r1", plan=Plan(task="t", gates=(gate(),)))


def kept(run: Run) -> RunState:
    """The state as the next driver would fold it."""
    state = fold(run.events)
    assert state is not None
    return state


# Impossible journals


def test_an_empty_journal_has_no_state() -> None:
    assert fold([]) is None


def test_a_journal_has_to_begin_with_its_run() -> None:
    with pytest.raises(JournalDamaged, match=r"^The journal begins with Attached instead of RunStarted\.$"):
        fold([Attached(at=1.0)])


def test_a_journal_holds_one_run() -> None:
    with pytest.raises(JournalDamaged, match=r"^The journal of run r1 starts a second run, r2\.$"):
        fold([STARTED, RunStarted(at=2.0, run="r2", plan=STARTED.plan)])


@pytest.mark.parametrize(
    "event",
    [
        BriefOffered(at=99.0, lap=2, agent="agent"),
        TurnEnded(at=99.0, lap=2, reply=Reply()),
        GateChecked(at=99.0, lap=2, gate="tests", verdict=PASS),
        LapVoided(at=99.0, lap=2, reason="interrupted"),
        AgentSwitched(at=99.0, agent="two", reason="out of quota"),
    ],
)
def test_what_belongs_to_a_lap_can_not_stand_where_none_is_under_way(event: Event) -> None:
    run = Run()
    run.lap(tests=PASS)

    with pytest.raises(
        JournalDamaged, match=rf"^The journal has {type(event).__name__} where no lap is in progress\.$"
    ):
        apply(run.state, event)


# Time


def test_time_only_goes_forward() -> None:
    run = Run()
    run.record(Steered(at=50.0, id="1", note="later"), Steered(at=20.0, id="2", note="clock went back"))

    assert run.state.now == 50.0
    assert run.state.elapsed == 50.0


def test_the_time_between_two_drivers_does_not_count() -> None:
    run = Run()
    run.record(Steered(at=10.0, id="1", note="n"), Attached(at=5000.0), Steered(at=5003.0, id="2", note="n"))

    assert run.state.elapsed == 13.0
    assert run.state.now == 5003.0


@pytest.mark.parametrize(
    ("begins", "ends"),
    [
        (Paused(at=10.0, reason="paused by command"), Resumed(at=500.0)),
        (Halted(at=10.0, cause="auth", detail="log in"), Attached(at=500.0)),
        (Interrupted(at=10.0, signal="SIGINT"), Attached(at=500.0)),
    ],
)
def test_time_does_not_run_while_a_person_is_waited_for(begins: Event, ends: Event) -> None:
    run = Run()
    run.record(begins, ends, Steered(at=501.0, id="1", note="n"))

    assert run.state.elapsed == 11.0
    assert run.state.waited == 0.0


def test_time_does_not_run_while_a_question_is_open() -> None:
    run = Run(gate(on_fail="ask"), answers=True)
    run.lap(tests=red("a"))
    elapsed = run.state.elapsed
    run.record(Answered(at=run.state.now + 800.0, choice="continue"))

    assert run.state.elapsed == elapsed


def test_a_lap_takes_as_long_as_it_was_driven_and_not_until_somebody_came_back() -> None:
    run = Run(gate("tests"))
    run.until(CheckGates, Turn(seconds=5))
    run.record(Interrupted(at=run.state.now, signal="SIGINT"), Attached(at=run.state.now + 9000.0))
    run.lap(tests=red("a"))
    run.lap(tests=red("a"))

    assert [lap.duration < 20 for lap in run.state.laps] == [True, True]
    assert run.state.laps[0].ended - run.state.laps[0].started > 9000.0


def test_waiting_for_a_limit_is_counted_apart() -> None:
    run = Run()
    run.record(Paused(at=10.0, reason="429", until=70.0, cause="rate_limited"), Resumed(at=70.0))

    assert run.state.waited == 60.0
    assert run.state.elapsed == 10.0


# Laps


def test_a_run_starts_with_the_baseline_where_one_is_asked_for() -> None:
    with_baseline = fold([STARTED])
    without = fold([RunStarted(at=1.0, run="r1", plan=Plan(task="t", gates=(gate(),), baseline=False))])

    assert with_baseline is not None
    assert with_baseline.open is not None
    assert with_baseline.open.number == 0
    assert without is not None
    assert without.open is not None
    assert without.open.number == 1


def test_a_lap_keeps_what_it_was_made_of() -> None:
    run = Run()
    reply = Reply(
        text="fixed a", usage=Usage(input_tokens=100, output_tokens=20, cost=0.5, source="reported")
    )
    run.lap(Turn(reply=reply, seconds=30), tests=red("b"))

    lap = run.last

    assert (lap.number, lap.agent, lap.base, lap.snapshot) == (1, "agent", "tree-0", "tree-1")
    assert (lap.reply.text, lap.tokens, lap.cost) == ("fixed a", 120, 0.5)
    assert lap.verdicts["tests"].findings[0].id == "b"
    assert lap.decision is not None
    assert lap.started < lap.ended == run.state.now


def test_money_and_tokens_of_all_attempts_are_counted() -> None:
    run = Run()
    lost = Usage(input_tokens=100, output_tokens=10, cost=0.5, source="reported")
    kept = Usage(input_tokens=50, output_tokens=5, cost=0.25, source="reported")
    run.lap(Turn(reply=Reply(error="network", usage=lost)))
    run.lap(Turn(reply=Reply(text="worked on it", usage=kept)), tests=red("a"))

    assert (run.state.spent.cost, run.state.spent.tokens) == (0.75, 165)
    assert (run.last.cost, run.last.tokens) == (0.75, 165)
    assert len(run.state.laps) == 1


def test_the_conversation_of_each_agent_is_remembered() -> None:
    run = Run()
    run.lap(Turn(reply=Reply(text="hello", session="s-1")), tests=red("a"))
    run.lap(Turn(reply=Reply(text="hello again")), tests=red("a"))

    assert run.state.sessions == {"agent": "s-1"}


def test_what_a_conversation_has_used_in_all_is_remembered_until_another_begins() -> None:
    run = Run(session="continue")
    counted = Usage(input_tokens=100, cost=0.5)
    run.lap(Turn(reply=Reply(text="hello", session="s-1", total=counted)), tests=red("a"))
    assert compose(run.state).counted == counted

    run.lap(Turn(reply=Reply(error="crash")), tests=red("b"))
    assert compose(run.state).counted == counted

    run.lap(Turn(reply=Reply(text="hello", session="s-1")), tests=red("c"))
    assert compose(run.state).counted == counted

    run.lap(Turn(reply=Reply(text="hello", session="s-2")), tests=red("d"))
    assert compose(run.state).counted == Usage()


def test_a_new_conversation_has_used_nothing() -> None:
    run = Run(session="fresh")
    run.lap(Turn(reply=Reply(text="hello", session="s-1", total=Usage(cost=0.5))), tests=red("a"))

    assert compose(run.state).counted == Usage()


def test_the_end_is_kept_with_its_reason_and_tree() -> None:
    run = Run()
    run.lap(tests=PASS)

    state = run.end()

    assert state.outcome is Outcome.CONVERGED
    assert state.reason == "all required gates pass in lap 1"
    assert state.final_snapshot == "tree-1"


def test_a_crash_of_our_own_can_end_a_run_anywhere() -> None:
    run = Run()
    run.offer()
    run.record(RunFinished(at=99.0, outcome=Outcome.CRASHED, reason="Strategy Mine raised KeyError: 'x'"))

    assert run.state.outcome is Outcome.CRASHED
    assert run.step is None


# The crash rule


def crashed(**plan: Any) -> Run:
    """A run whose driver died in the middle of the second turn."""
    run = Run(**plan)
    run.lap(tests=red("a"))
    run.offer()
    run.record(Attached(at=1000.0))
    return run


def test_a_driver_that_died_in_a_turn_leaves_an_interrupted_turn() -> None:
    run = crashed()

    lap = run.state.open
    assert lap is not None
    assert lap.reply == Reply(error="interrupted")
    assert lap.interrupted
    assert run.state.errors == 1
    assert run.state.last_error == "interrupted: its driver died"


def test_what_the_dead_driver_left_is_kept_and_judged_before_another_turn() -> None:
    run = crashed()

    assert run.step == TakeSnapshot(lap=2, phase="turn")
    assert run.until(CheckGates).gates == ("tests",)


def test_an_interrupted_turn_that_left_red_gates_used_no_lap() -> None:
    run = crashed()

    event = run.lap(Turn(tree="half done"), tests=red("a", "b"))

    assert isinstance(event, LapVoided)
    assert len(run.state.laps) == 1
    assert run.until(Work) == Work(lap=2, attempt=2, agent="agent")
    assert run.state.tree == "half done"


def test_an_interrupted_turn_that_left_green_gates_has_converged() -> None:
    run = crashed()
    run.lap(tests=PASS)

    state = run.end()

    assert state.outcome is Outcome.CONVERGED
    assert state.laps[-1].reply.error == "interrupted"


def test_on_request_what_the_dead_driver_left_is_thrown_away_first() -> None:
    run = crashed(on_interrupt="rewind")

    restore = run.until(Restore)
    assert restore == Restore(lap=1, snapshot="tree-1", why="the turn was interrupted", whole=True)
    run.perform(restore, Turn())
    assert run.step == TakeSnapshot(lap=2, phase="turn")

    run.lap(Turn(tree="tree-1"), tests=red("a"))
    assert run.until(Work).attempt == 2
    assert run.state.tree == "tree-1"


def test_a_lap_that_began_with_a_restore_is_rewound_like_any_other() -> None:
    run = Run(strategy=Manual(), answers=True, on_interrupt="rewind")
    run.lap(tests=red("a"))
    run.arrive(Answer(at=0.0, choice="rollback", argument="0"))
    run.perform(run.until(Decide), Turn())
    run.offer()
    run.restart()

    restore = run.until(Restore)

    assert (restore.snapshot, restore.why) == ("tree-0", "the turn was interrupted")


def test_a_lap_knows_what_changed_before_its_turn_also_when_it_begins_again() -> None:
    run = Run(strategy=Manual(), answers=True)
    run.lap(tests=red("a"))
    before = run.state.tree
    run.arrive(Answer(at=0.0, choice="continue"))
    run.until(Work)
    begun = run.state.open
    assert begun is not None
    run.perform(run.until(Decide, Turn(reply=Reply(error="rate_limited"))), Turn())
    run.lap(tests=red("a"))

    assert before is not None
    assert begun.outside == (before, begun.base)
    assert run.last.outside == begun.outside


def test_drivers_that_die_again_and_again_end_the_run() -> None:
    run = Run(limits=Limits(errors=3))
    for _ in range(2):
        run.offer()
        run.restart()
        assert isinstance(run.lap(tests=red("a")), LapVoided)
    run.offer()
    run.restart()
    run.lap(tests=red("a"))

    assert run.ending.outcome is Outcome.EXHAUSTED
    assert run.ending.reason.startswith("limit errors: the agent failed 3 times in a row")


def test_a_turn_that_a_person_interrupts_is_not_a_failure_of_the_agent() -> None:
    run = Run()
    run.offer()
    run.record(Interrupted(at=20.0, signal="SIGINT"))
    assert run.step == Halt(cause="SIGINT")

    run.restart()

    assert run.state.errors == 0
    assert run.state.away is None
    assert isinstance(run.lap(tests=red("a")), LapVoided)


def test_an_interruption_between_turns_loses_nothing() -> None:
    run = Run()
    before = run.until(CheckGates, Turn(tree="x"))
    run.record(Interrupted(at=20.0, signal="SIGTERM"))
    run.restart()

    assert run.step == before
    assert run.state.errors == 0


def test_a_verdict_that_was_recorded_is_not_asked_for_again() -> None:
    run = Run(gate("a"), gate("b"))
    run.until(CheckGates)
    run.record(GateChecked(at=20.0, lap=1, gate="a", verdict=PASS))
    run.restart()

    assert run.until(CheckGates).gates == ("b",)


def test_notes_in_the_brief_of_a_lost_attempt_are_in_the_next_brief_too() -> None:
    run = Run()
    run.arrive(Steer(at=1.0, id="1", note="Use the new API."))
    run.offer()
    assert run.state.notes_told == 1
    run.restart()
    run.lap(tests=red("a"))
    run.until(Work)

    assert "Use the new API." in compose(run.state).text


def test_notes_in_the_brief_of_an_earlier_lap_are_not_repeated() -> None:
    run = Run()
    run.arrive(Steer(at=1.0, id="1", note="Use the new API."))
    run.lap(tests=red("a"))
    run.offer()
    run.restart()
    run.lap(tests=red("a"))
    run.until(Work)

    assert "Use the new API." not in compose(run.state).text


def test_limits_that_an_interrupted_run_has_reached_are_judged_before_another_turn() -> None:
    run = Run(limits=Limits(time="1m"))
    run.offer()
    run.arrive(Steer(at=61.0, id="1", note="Still there?"))
    run.restart()
    run.lap(tests=red("a"))

    assert run.ending.outcome is Outcome.EXHAUSTED
    assert run.ending.metadata == {"limit": "time"}


def test_the_living_turn_of_a_session_is_not_closed_by_its_own_hook() -> None:
    run = Run()
    run.restart(seat="session", session="s-1")
    step = run.until(Work)
    run.record(BriefOffered(at=10.0, lap=1, agent=step.agent, seat="session"))

    run.record(Attached(at=20.0, seat="session", session="s-1"))
    assert run.step == AwaitTurn(lap=1)
    assert (run.state.seat, run.state.session) == ("session", "s-1")

    run.record(Attached(at=30.0, seat="terminal"))
    assert run.state.open is not None
    assert run.state.open.interrupted


def test_a_turn_of_a_terminal_is_closed_by_a_session_that_takes_over() -> None:
    run = Run()
    run.offer()
    run.restart(seat="session", session="s-1")

    assert run.state.open is not None
    assert run.state.open.interrupted


def test_a_driver_that_died_while_a_turn_was_cancelled_is_not_a_failure_of_the_agent() -> None:
    run = Run()
    run.offer()
    run.arrive(Cancel(at=0.0))
    run.restart()

    assert run.state.errors == 0
    assert run.step == TakeSnapshot(lap=1, phase="final")


def test_a_driver_that_comes_back_to_an_ending_run_only_ends_it() -> None:
    run = Run()
    run.offer()
    run.record(Interrupted(at=9.0, signal="SIGINT"))
    run.restart()
    run.lap(tests=PASS)
    errors = run.state.errors
    run.restart()

    assert run.state.errors == errors
    assert run.end().outcome is Outcome.CONVERGED


# Waiting


def test_a_driver_that_attaches_clears_a_halt() -> None:
    run = Run()
    run.lap(Turn(reply=Reply(error="auth", detail="please log in")))
    assert run.step == Halt(cause="auth")

    run.restart()

    assert run.state.halted is None
    assert run.until(Work).lap == 1


def test_a_halt_where_no_lap_is_under_way_is_kept_too() -> None:
    run = Run(gate(on_fail="ask"), answers=True)
    run.lap(tests=red("a"))
    run.record(Halted(at=99.0, cause="agent", detail="not found"))

    assert run.step == Halt(cause="agent")


def test_a_pause_by_hand_does_not_count_as_a_wait() -> None:
    run = Run()
    run.arrive(Pause(at=1.0))
    run.arrive(Resume(at=2.0))

    assert run.state.waits == 0
    assert run.state.pause is None


def test_another_agent_takes_the_same_lap() -> None:
    run = Run(agents=(PartSpec(name="one"), PartSpec(name="two")))
    run.lap(Turn(reply=Reply(error="quota")))

    assert run.until(Work) == Work(lap=1, attempt=2, agent="two")


def test_a_restore_before_the_end_is_not_the_last_one() -> None:
    run = crashed(on_interrupt="rewind")
    run.perform(run.until(Restore), Turn())

    assert not run.state.left


def test_a_final_snapshot_closes_the_lap_under_way() -> None:
    run = Run()
    run.offer()
    run.record(SnapshotTaken(at=20.0, lap=1, phase="final", snapshot="tree-x"))

    assert run.state.open is None
    assert run.state.tree == "tree-x"


def test_a_note_that_comes_with_an_answer_is_kept_for_the_next_brief() -> None:
    run = Run(gate(on_fail="ask"), answers=True)
    run.lap(tests=red("a"))
    run.record(Answered(at=99.0, choice="continue", note="Mind the time zone.", by="ann"))

    assert [(note.text, note.by) for note in run.state.notes] == [("Mind the time zone.", "ann")]


def test_what_an_answer_led_to_is_the_decision_about_its_lap() -> None:
    run = Run(gate(on_fail="ask"), answers=True)
    run.lap(tests=red("a"))
    before = run.last.decision
    asked = run.asked
    run.arrive(Answer(at=0.0, choice="stop"))
    run.perform(run.until(Decide), Turn())

    assert before == asked
    assert run.last.decision == run.ending


def test_a_judge_is_asked_once_about_the_same_files() -> None:
    run = Run(gate("judge", kind="judge"))
    run.lap(Turn(tree="same"), judge=red("too clever"))
    assert run.last.failing == {"judge: too clever"}

    run.lap(Turn(tree="same"), judge=PASS)
    assert run.last.failing == {"judge: too clever"}

    run.lap(Turn(tree="another"), judge=PASS)
    assert run.last.green


def test_a_judge_that_could_not_answer_is_asked_again() -> None:
    run = Run(gate("judge", kind="judge"))
    run.lap(Turn(tree="same"), judge=BROKEN)
    run.lap(Turn(tree="same"), judge=PASS)

    assert run.last.green


def test_nothing_is_remembered_that_is_not_in_the_journal() -> None:
    run = Run(gate("tests"), gate("lint", stage=2), baseline=True)
    run.lap(tests=red("a", "b"))
    run.lap(tests=red("a"))
    run.offer()
    run.restart()
    run.lap(tests=PASS, lint=red("l"))
    run.lap(Turn(reply=Reply(error="network")))
    run.lap()
    run.end()

    assert kept(run) == run.state
    assert run.state.outcome is Outcome.CONVERGED
    assert not isinstance(run.step, Decide)


def test_the_baseline_knows_how_long_it_took() -> None:
    run = Run(baseline=True, started=1_700_000_000.0)
    run.lap(tests=red("a"))

    assert run.state.baseline is not None
    assert run.state.baseline.duration < 60


def test_time_runs_in_a_turn_though_a_pause_was_asked_for() -> None:
    run = Run()
    run.offer()
    run.arrive(Pause(at=0.0))
    before = run.state.elapsed
    run.record(TurnEnded(at=run.state.now + 600.0, lap=1, reply=Reply(text="x")))

    assert run.state.elapsed == before + 600.0


def test_a_verdict_of_a_gate_that_the_plan_does_not_know_is_damage() -> None:
    run = Run()
    run.until(CheckGates)

    with pytest.raises(JournalDamaged, match="'nope'"):
        run.record(GateChecked(at=20.0, lap=1, gate="nope", verdict=PASS))
