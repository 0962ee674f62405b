"""What a session's hooks report to a run: the end of a lap, a person's own turn, or neither."""

import pytest

from tests.core.helpers import PASS, Run, Turn, gate, red
from untilgreen.core.briefing.brief import compose
from untilgreen.core.loop.receive import receive, refusal
from untilgreen.core.loop.session_arrivals import (
    DOUBLE,
    Deleted,
    Failed,
    FromASession,
    Go,
    Left,
    Stopped,
    Take,
    TookOver,
)
from untilgreen.core.loop.step import AwaitResume, AwaitTurn, TakeSnapshot, Work, next_step
from untilgreen.core.values.events import (
    Attached,
    BriefOffered,
    Cancelled,
    Event,
    Interrupted,
    LapVoided,
    LetGo,
    Paused,
    Resumed,
    Steered,
    TurnEnded,
)
from untilgreen.core.values.model import Moment, Outcome, Promise

S = "s-1"
DONE = "<promise>DONE</promise>"


def tick(seconds: float) -> Moment:
    return Moment(clock="boot", seconds=seconds)


def in_session(*, own_turn: bool = False, at: float = 10.0) -> Run:
    """A run whose first brief has been offered to a session."""
    run = Run(promise=Promise())
    run.restart(seat="session", session=S)
    step = run.until(Work, Turn(verdicts={"tests": red("a")}))
    run.record(
        BriefOffered(
            at=at,
            lap=step.lap,
            agent=step.agent,
            seat="session",
            session=S,
            own_turn=own_turn,
            moment=tick(100.0),
        )
    )
    return run


def stopped(
    text: str = "on it", *, kept_going: bool | None = True, began: float = 101.0, busy: str = ""
) -> Stopped:
    return Stopped(at=20.0, session=S, began=tick(began), kept_going=kept_going, text=text, busy=busy)


def kinds(events: tuple[Event, ...]) -> list[type[Event]]:
    return [type(event) for event in events]


@pytest.mark.parametrize(
    ("own_turn", "kept_going", "events"),
    [
        (False, True, [TurnEnded]),
        (False, None, [TurnEnded]),
        (False, False, [LapVoided, Paused]),
        (True, False, [TurnEnded]),
        (True, True, [TurnEnded]),
    ],
)
def test_a_stop_ends_the_lap_only_in_the_turn_that_it_was_offered_in(
    own_turn: bool, kept_going: bool | None, events: list[type[Event]]
) -> None:
    run = in_session(own_turn=own_turn)

    assert kinds(receive(run.state, stopped(kept_going=kept_going))) == events


def test_a_lap_that_a_person_took_over_is_unused_and_waits_to_be_offered_again() -> None:
    run = in_session()
    run.arrive(stopped(kept_going=False))

    assert run.step == AwaitResume(reason="you took over")
    assert run.state.pause is not None
    assert run.state.pause.reason == "you took over"
    assert run.state.open is not None
    assert (run.state.open.number, run.state.open.offered) == (1, False)

    run.arrive(Go(at=30.0, session=S))
    assert isinstance(next_step(run.state), TakeSnapshot)


def test_a_call_that_began_before_the_offer_is_a_double() -> None:
    run = in_session()

    assert refusal(run.state, stopped(began=99.0)) == DOUBLE
    assert refusal(run.state, stopped(began=100.0)) == ""


def test_moments_of_another_boot_are_not_doubles() -> None:
    run = in_session()
    stop = Stopped(at=20.0, session=S, began=Moment(clock="later boot", seconds=1.0), kept_going=True)

    assert refusal(run.state, stop) == ""
    assert not tick(1.0).before(None)


def test_work_in_the_background_lets_the_session_go_and_its_next_stop_ends_the_lap() -> None:
    run = in_session()

    events = run.arrive(stopped(busy="npm run dev"))
    assert kinds(events) == [LetGo]
    assert run.step == AwaitTurn(lap=1)
    assert kinds(receive(run.state, stopped(kept_going=False))) == [TurnEnded]


def test_a_stop_of_another_session_is_refused() -> None:
    run = in_session()
    stop = Stopped(at=20.0, session="s-2", began=tick(101.0), kept_going=True)

    assert refusal(run.state, stop) == "Run r1 is no longer driven by this session."


def test_a_stop_is_refused_while_no_brief_is_out() -> None:
    run = in_session()
    run.arrive(stopped())

    assert refusal(run.state, stopped()) == "Run r1 is waiting; it has offered no brief."


def test_the_promise_in_the_agents_own_last_words_is_a_claim() -> None:
    run = in_session()
    (event,) = receive(run.state, stopped(f"all is well\n{DONE}"))

    assert isinstance(event, TurnEnded)
    assert (event.claim, event.reply.session, event.unused) == (True, S, False)


def is_claim(run: Run, text: str) -> bool:
    (event,) = receive(run.state, stopped(text))
    assert isinstance(event, TurnEnded)
    return event.claim


def test_an_echo_of_a_note_in_the_brief_is_not_a_claim() -> None:
    run = in_session()
    note = f"all of it works {DONE}"
    before = Run(promise=Promise())
    before.restart(seat="session", session=S)
    before.record(Steered(at=1.0, id="1", note=note))
    before.until(Work, Turn(verdicts={"tests": red("a")}))
    before.record(BriefOffered(at=10.0, lap=1, agent="agent", seat="session", moment=tick(100.0)))

    assert [is_claim(before, note), is_claim(run, note)] == [False, True]


def test_without_a_promise_nothing_is_a_claim() -> None:
    run = Run()
    run.restart(seat="session", session=S)
    run.until(Work, Turn(verdicts={"tests": red("a")}))
    run.record(BriefOffered(at=10.0, lap=1, agent="agent", seat="session"))

    (event,) = receive(run.state, stopped(DONE))
    assert isinstance(event, TurnEnded)
    assert not event.claim


@pytest.mark.parametrize("arrival", [TookOver(at=20.0, session=S), Left(at=20.0, session=S)])
def test_a_prompt_of_the_user_and_the_end_of_the_session_leave_the_lap_unused(arrival: FromASession) -> None:
    run = in_session()

    assert kinds(run.arrive(arrival)) == [LapVoided, Paused]
    assert isinstance(run.step, AwaitResume)
    assert refusal(run.state, arrival) == "Run r1 is already paused."


def test_a_turn_whose_gates_are_under_way_is_not_voided() -> None:
    run = in_session()
    run.arrive(stopped())

    assert kinds(receive(run.state, TookOver(at=21.0, session=S))) == [Paused]


def test_an_error_uses_no_lap_and_counts_towards_errors() -> None:
    run = in_session()
    run.arrive(Failed(at=100.0, session=S, detail="it broke"))

    assert run.state.errors == 1
    assert isinstance(run.lap(tests=red("a")), LapVoided)
    assert run.state.laps == ()
    assert run.state.open is not None
    assert run.state.open.attempt == 2


def test_errors_beyond_the_limit_end_the_run() -> None:
    run = in_session()
    for _ in range(3):
        run.arrive(Failed(at=run.state.now + 60, session=S, detail="it broke"))
        run.lap(tests=red("a"))
        if run.state.ending is None:
            run.until(Work)
            run.record(BriefOffered(at=run.state.now, lap=1, agent="agent", seat="session", session=S))

    assert run.state.ending is not None
    assert run.state.ending.outcome is Outcome.EXHAUSTED
    assert "errors" in run.state.ending.reason


@pytest.mark.parametrize(
    ("failed", "cause"),
    [
        (Failed(at=20.0, session=S, detail="slow down", error="rate_limited"), "rate_limited"),
        (Failed(at=200.0, session=S, detail="no route", error="network"), "network"),
        (Failed(at=20.0, session=S, detail="it broke"), "network"),
    ],
)
def test_an_error_outside_the_agent_pauses_and_does_not_count(failed: Failed, cause: str) -> None:
    run = in_session()
    run.arrive(failed)

    paused = run.lap(tests=red("a"))

    assert isinstance(paused, Paused)
    assert (paused.cause, paused.until is not None) == (cause, True)
    assert (run.state.errors, run.state.laps) == (0, ())


def test_an_error_without_a_turn_is_refused() -> None:
    run = in_session()
    run.arrive(TookOver(at=20.0, session=S))

    assert refusal(run.state, Failed(at=21.0, session=S)) == "Run r1 has no turn in progress."


def test_a_deleted_session_ends_its_run() -> None:
    run = in_session()

    assert kinds(run.arrive(Deleted(at=20.0, session=S))) == [Cancelled]
    assert run.state.ending is not None
    assert run.state.ending.reason == "its session was deleted"


def test_taking_a_run_out_of_its_session_leaves_the_lap_unused_and_is_not_a_failure() -> None:
    run = in_session()
    assert kinds(run.arrive(Take(at=20.0))) == [LapVoided, Resumed]
    run.record(Attached(at=21.0, seat="terminal"))

    assert run.state.errors == 0
    assert refusal(run.state, stopped()) == "Run r1 is no longer driven by this session."


def test_the_time_of_a_sessions_turn_counts_and_the_time_it_was_away_does_not() -> None:
    run = in_session(at=10.0)
    before = run.state.elapsed
    run.record(Attached(at=70.0, seat="session", session=S))
    assert run.state.elapsed == before + 60.0

    run.record(Interrupted(at=70.0, signal="SIGTERM"), Attached(at=500.0, seat="session", session=S))
    assert run.state.elapsed == before + 60.0


def test_another_session_that_attaches_closes_the_turn() -> None:
    run = in_session()
    run.record(Attached(at=20.0, seat="session", session="s-2"))

    assert run.state.open is not None
    assert run.state.open.interrupted


def test_arrivals_of_a_session_are_received_at_every_point() -> None:
    run = Run()
    run.restart(seat="session", session=S)
    for arrival in (Left(at=2.0, session=S), TookOver(at=2.0, session=S), Go(at=2.0, session=S)):
        assert refusal(run.state, arrival) == ""
        assert receive(run.state, arrival)[-1:]
    assert "has offered no brief" in refusal(run.state, stopped())


def test_a_brief_for_a_session_says_how_the_last_lap_went_and_how_to_claim() -> None:
    run = in_session()
    text = compose(run.state).text

    assert text.startswith("[UNTILGREEN LOOP - ITERATION 1/20]\n\nThis is the first lap.")
    run.arrive(stopped("hm"))
    run.lap(tests=red("a"))
    brief = compose(run.state).text
    assert brief.startswith(
        "[UNTILGREEN LOOP - ITERATION 2/20]\n\nYour last attempt did not give the completion promise."
    )
    assert f"write {DONE} on its own line" in brief
    assert "## tests: 1 failing" in brief


def test_a_rejected_claim_and_a_green_lap_without_one_open_the_brief() -> None:
    run = in_session()
    run.arrive(stopped(f"there\n{DONE}"))
    run.lap(tests=red("a"))
    assert "\n\nYour claim was rejected: " in compose(run.state).text

    run.until(Work)
    run.record(BriefOffered(at=30.0, lap=2, agent="agent", seat="session", session=S))
    run.arrive(stopped("hm"))
    run.lap(tests=PASS)
    assert "\n\n# Everything is green\n\n" in compose(run.state).text


def test_where_no_gate_judges_nothing_is_called_green() -> None:
    run = Run(gate("claim", kind="claim"), promise=Promise())
    run.lap()
    run.restart(seat="session", session=S)
    run.until(Work)

    text = compose(run.state).text
    assert "Everything is green" not in text
    assert "did not give the completion promise" in text


def test_the_brief_of_a_run_without_a_promise_says_that_the_gates_are_red() -> None:
    run = Run()
    run.restart(seat="session", session=S)
    run.lap(tests=red("a"))
    text = compose(run.state).text

    assert "Your last attempt did not turn the gates green." in text
    assert "- When it is fully complete, end your turn." in text
