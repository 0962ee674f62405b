"""Every arrival at every point of a run; a refusal is a sentence."""

from collections.abc import Callable

import pytest

from tests.core.helpers import PASS, Run, Turn, continued, gate, red
from untilgreen.core.detectors.cycle import Cycle
from untilgreen.core.loop.receive import (
    LONGEST_NOTE,
    MOST_ADDED,
    AddLaps,
    Answer,
    Arrival,
    Cancel,
    Pause,
    Resume,
    Steer,
    Stop,
    receive,
    refusal,
)
from untilgreen.core.loop.step import AwaitResume, CheckGates, Conclude, TakeSnapshot, Wait, Work
from untilgreen.core.strategies.fixed import Fixed
from untilgreen.core.strategies.manual import Manual
from untilgreen.core.values.events import (
    Answered,
    Cancelled,
    Event,
    Halted,
    Interrupted,
    Paused,
    Resumed,
    RunFinished,
    Steered,
    StopRequested,
    TurnEnded,
)
from untilgreen.core.values.limits import Limits
from untilgreen.core.values.model import Outcome, PartSpec, Reply


def in_the_baseline() -> Run:
    run = Run(baseline=True)
    run.until(CheckGates)
    return run


def before_a_turn() -> Run:
    run = Run()
    run.until(Work)
    return run


def in_a_turn() -> Run:
    run = Run()
    run.offer()
    return run


def in_the_gates() -> Run:
    run = Run()
    run.until(CheckGates)
    return run


def at_a_question() -> Run:
    run = Run(strategy=Manual(), answers=True)
    run.lap(tests=red("a"))
    return run


def paused() -> Run:
    run = before_a_turn()
    run.arrive(Pause(at=0.0))
    return run


def waiting() -> Run:
    run = Run()
    run.lap(Turn(reply=Reply(error="rate_limited")))
    return run


def halted() -> Run:
    run = before_a_turn()
    run.record(Halted(at=9.0, cause="auth", detail="log in"))
    return run


def away() -> Run:
    run = in_a_turn()
    run.record(Interrupted(at=9.0, signal="SIGINT"))
    return run


def stopping() -> Run:
    run = in_a_turn()
    run.arrive(Stop(at=0.0))
    return run


def ending() -> Run:
    run = Run()
    run.lap(tests=PASS)
    return run


def ended() -> Run:
    run = ending()
    run.end()
    return run


def crashed() -> Run:
    run = in_a_turn()
    run.record(RunFinished(at=9.0, outcome=Outcome.CRASHED, reason="Strategy Mine raised KeyError: 'x'"))
    return run


POINTS: list[Callable[[], Run]] = [
    in_the_baseline,
    before_a_turn,
    in_a_turn,
    in_the_gates,
    at_a_question,
    paused,
    waiting,
    halted,
    away,
    stopping,
]
ARRIVALS: dict[Arrival, type[Event]] = {
    Stop(at=3.0, by="ann", reason="enough"): StopRequested,
    Cancel(at=3.0, by="ann", reason="wrong branch"): Cancelled,
    Pause(at=3.0, by="ann", reason="lunch"): Paused,
    Resume(at=3.0, by="ann"): Resumed,
    Steer(at=3.0, by="ann", id="n1", note="Mind the time zone."): Steered,
    Answer(at=3.0, by="ann", choice="continue", note="Go on."): Answered,
}
REFUSED = {
    (Stop, stopping),
    (Pause, paused),
    (Pause, waiting),
    *((Resume, point) for point in POINTS if point not in (paused, waiting)),
    *((Answer, point) for point in POINTS if point is not at_a_question),
}


@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("arrival", ARRIVALS, ids=lambda arrival: type(arrival).__name__)
def test_an_arrival_becomes_its_event_or_is_refused_with_a_reason(
    arrival: Arrival, point: Callable[[], Run]
) -> None:
    state = point().state

    why_not = refusal(state, arrival)

    if (type(arrival), point) in REFUSED:
        assert why_not.endswith(".")
        assert why_not[0].isupper() or why_not[0] == "'"
    else:
        assert why_not == ""
        events = receive(state, arrival)
        assert [type(event) for event in events] == [ARRIVALS[arrival]]
        assert events[0].at == max(3.0, state.now)


@pytest.mark.parametrize(
    ("point", "sentence"),
    [
        (ending, "Run r1 is ending: all required gates pass in lap 1."),
        (ended, "Run r1 has ended: converged."),
        (crashed, "Run r1 has ended: crashed."),
    ],
)
@pytest.mark.parametrize("arrival", ARRIVALS, ids=lambda arrival: type(arrival).__name__)
def test_a_run_that_ends_takes_nothing_more(
    arrival: Arrival, point: Callable[[], Run], sentence: str
) -> None:
    state = point().state

    assert refusal(state, arrival) == sentence


def test_who_sent_it_and_why_is_kept() -> None:
    state = in_a_turn().state
    now = state.now

    assert receive(state, Stop(at=0.0, by="ann", reason="enough")) == (
        StopRequested(at=now, by="ann", reason="enough"),
    )
    assert receive(state, Cancel(at=0.0, by="ann")) == (
        Cancelled(at=now, by="ann", reason="cancelled by command"),
    )
    assert receive(state, Pause(at=0.0)) == (Paused(at=now, reason="paused by command"),)
    assert receive(paused().state, Resume(at=99.0)) == (Resumed(at=99.0, by="command"),)
    assert receive(paused().state, Resume(at=99.0, by="ann")) == (Resumed(at=99.0, by="ann"),)


# Stop and cancel


@pytest.mark.parametrize("point", [in_the_baseline, before_a_turn, at_a_question, paused, waiting, halted])
def test_a_stop_where_no_turn_is_under_way_ends_the_run_at_once(point: Callable[[], Run]) -> None:
    run = point()
    run.arrive(Stop(at=0.0, reason="enough"))

    assert run.until(Conclude).outcome is Outcome.CANCELLED
    assert run.ending.reason == "enough"
    assert run.state.asked is None


@pytest.mark.parametrize("point", [in_a_turn, in_the_gates])
def test_a_stop_during_a_lap_ends_the_run_after_its_gates(point: Callable[[], Run]) -> None:
    run = point()
    run.arrive(Stop(at=0.0, reason="enough"))
    assert run.state.ending is None
    if point is in_a_turn:
        run.record(TurnEnded(at=20.0, lap=1, reply=Reply(text="done what I could")))
    run.lap(tests=red("a"))

    assert len(run.state.laps) == 1
    assert run.end().outcome is Outcome.CANCELLED
    assert run.state.reason == "enough"


def test_a_lap_that_turns_green_after_a_stop_is_success() -> None:
    run = in_the_gates()
    run.arrive(Stop(at=0.0))
    run.lap(tests=PASS)

    assert run.end().outcome is Outcome.CONVERGED


@pytest.mark.parametrize("point", POINTS)
def test_a_cancel_ends_the_run_from_anywhere(point: Callable[[], Run]) -> None:
    run = point()
    run.arrive(Cancel(at=0.0, reason="wrong branch"))

    assert isinstance(run.step, TakeSnapshot | Conclude)
    assert run.state.asked is None
    assert run.end().outcome is Outcome.CANCELLED
    assert run.state.reason == "wrong branch"


# Pause and resume


def test_a_pause_keeps_the_next_turn_from_starting_over_a_restart_too() -> None:
    run = paused()
    assert isinstance(run.step, AwaitResume)
    run.restart()
    assert isinstance(run.step, AwaitResume)

    run.arrive(Resume(at=0.0))
    assert isinstance(run.step, Work)


def test_a_resume_also_ends_a_wait_for_a_time() -> None:
    run = waiting()
    assert isinstance(run.step, Wait)

    run.arrive(Resume(at=0.0))
    assert run.until(Work).attempt == 2


# Steer


def test_a_note_that_was_taken_already_is_refused() -> None:
    run = in_a_turn()
    assert run.arrive(Steer(at=0.0, id="n1", note="Mind the time zone."))

    again = Steer(at=0.0, id="n1", note="Mind the time zone.")
    assert run.arrive(again) == ()
    assert refusal(run.state, again) == "This note was already received."
    assert run.arrive(Steer(at=0.0, id="n2", note="Mind the time zone."))


def test_an_empty_note_is_refused() -> None:
    assert refusal(in_a_turn().state, Steer(at=0.0, id="n1", note=" \n ")) == "The note is empty."


@pytest.mark.parametrize(
    "arrival",
    [
        Steer(at=0.0, id="n1", note="n" * (LONGEST_NOTE + 1)),
        Answer(at=0.0, choice="continue", note="n" * (LONGEST_NOTE + 1)),
    ],
)
def test_an_overlong_note_is_refused(arrival: Arrival) -> None:
    run = at_a_question()

    assert run.arrive(arrival) == ()
    assert refusal(run.state, arrival) == (
        "The note has 8,001 characters; 8,000 are allowed. Put it in a file and name the file."
    )


def test_a_note_may_be_as_long_as_the_limit() -> None:
    assert in_a_turn().arrive(Steer(at=0.0, id="n1", note="n" * LONGEST_NOTE))


# Answer


def answer(choice: str, argument: str | None = None) -> Answer:
    return Answer(at=0.0, choice=choice, argument=argument)


def test_an_answer_that_was_not_offered_is_refused_with_the_nearest_one() -> None:
    why_not = refusal(at_a_question().state, answer("contniue"))

    assert why_not.startswith("'contniue' is not an answer to the question of run r1. ")
    assert why_not.endswith("Did you mean 'continue'?")


@pytest.mark.parametrize("argument", [None, "", "two", "-1", "2", "99", "1.0", "²"])
def test_a_rollback_needs_a_lap_that_exists(argument: str | None) -> None:
    assert refusal(at_a_question().state, answer("rollback", argument)) == (
        "'rollback' needs a lap from 0 to 1, for example 'rollback 1'."
    )


@pytest.mark.parametrize("argument", ["0", "1", "01"])
def test_a_rollback_to_a_lap_that_exists_is_taken(argument: str) -> None:
    assert refusal(at_a_question().state, answer("rollback", argument)) == ""


def test_a_change_of_agents_needs_an_agent_of_the_plan() -> None:
    run = Run(strategy=Manual(), answers=True, agents=(PartSpec(name="claude"), PartSpec(name="codex")))
    run.lap(tests=red("a"))

    assert refusal(run.state, answer("agent")) == "'agent' needs an agent. Known: claude, codex."
    assert refusal(run.state, answer("agent", "cloude")).endswith("Did you mean 'claude'?")
    assert refusal(run.state, answer("agent", "codex")) == ""


def test_a_change_of_agents_is_not_offered_where_there_is_one() -> None:
    assert refusal(at_a_question().state, answer("agent", "agent")).startswith("'agent' is not an answer to")


def test_a_question_is_answered_once() -> None:
    run = at_a_question()
    run.arrive(answer("continue"))

    assert refusal(run.state, answer("accept")) == "Run r1 is not asking anything."


def test_a_run_that_is_paused_already_can_not_be_paused_for_a_review() -> None:
    run = Run(strategy=Fixed(iterations=9), detectors=[Cycle()], answers=True, remedies=("ask",))
    for _ in range(3):
        run.lap(Turn(tree="same"), tests=red("a"))
    assert "review" in run.asked.choices
    assert refusal(run.state, answer("review")) == ""

    run.arrive(Pause(at=0.0))

    assert refusal(run.state, answer("review")) == "Run r1 is already paused."


def test_words_after_a_choice_that_needs_none_are_a_note_for_the_agent() -> None:
    said = Answer(at=0.0, choice="continue", argument="use a guard clause", note="and test it")

    (event,) = receive(at_a_question().state, said)

    assert isinstance(event, Answered)
    assert (event.argument, event.note) == (None, "use a guard clause\n\nand test it")
    assert "characters; 8,000 are allowed" in refusal(
        at_a_question().state, answer("continue", "n" * (LONGEST_NOTE + 1))
    )


def test_what_a_choice_needs_is_not_a_note() -> None:
    (event,) = receive(at_a_question().state, answer("rollback", "1"))

    assert isinstance(event, Answered)
    assert (event.argument, event.note) == ("1", "")


def test_a_gate_question_takes_its_three_answers() -> None:
    run = Run(gate(on_fail="ask"), answers=True)
    run.lap(tests=red("a"))

    assert [refusal(run.state, answer(choice)) for choice in ("continue", "accept", "stop")] == ["", "", ""]


def test_an_absurdly_long_lap_number_is_refused_like_any_other() -> None:
    run = Run(strategy=Manual(), answers=True)
    run.lap(tests=red("a"))

    assert "needs a lap from 0 to 1" in refusal(
        run.state, Answer(at=0.0, choice="rollback", argument="9" * 5000)
    )


def test_laps_that_a_person_added_come_after_those_of_the_limit_and_of_the_strategy() -> None:
    """Both limits are three laps; with two added, the run ends after five."""
    run = Run(gate("tests"), strategy=Fixed(iterations=3), strategy_laps=3, limits=Limits(iterations=3))
    run.lap(tests=red("a"))
    run.arrive(AddLaps(at=1.0, by="ann", laps=2))
    for name in "bcd":
        run.lap(tests=red(name))
    assert run.state.outcome is None
    assert run.state.plan.limits.iterations == 5
    assert run.state.plan.most_laps == 5
    run.lap(tests=red("e"))

    assert len(run.state.laps) == 5
    assert run.ending.outcome is Outcome.EXHAUSTED
    assert run.state.added == 0


@pytest.mark.parametrize("laps", [0, -1, MOST_ADDED + 1])
def test_a_number_of_laps_that_cannot_be_added_is_refused(laps: int) -> None:
    run = before_a_turn()

    assert refusal(run.state, AddLaps(at=1.0, laps=laps)) == f"Add 1 to {MOST_ADDED} laps, not {laps}."


def test_laps_can_be_added_where_only_time_is_limited() -> None:
    run = Run(limits=Limits(iterations=None, time=60))
    run.arrive(AddLaps(at=1.0, laps=3))

    assert run.state.plan.limits.iterations is None
    assert run.state.added == 3


def test_a_run_that_is_stuck_has_the_laps_that_were_added_for_its_remedies() -> None:
    run = Run(
        gate("tests"),
        strategy=Fixed(iterations=3),
        detectors=[Cycle()],
        limits=Limits(iterations=3),
        remedies=("hint",),
    )
    run.arrive(AddLaps(at=1.0, laps=2))
    for _ in range(3):
        run.lap(tests=red("a"))

    assert continued(run.decided).remedy == "hint"
