"""A run that moves between machines, and answers that come late."""

from itertools import islice

from msgspec.structs import replace

from untilgreen.core.loop.fold import apply, fold
from untilgreen.core.loop.receive import Answer, question_id, receive, refusal
from untilgreen.core.strategies.fixed import Fixed
from untilgreen.core.strategies.manual import Manual
from untilgreen.core.values.events import Answered, Attached, BriefOffered, TurnEnded
from untilgreen.core.values.limits import MOST_TAKEOVERS, breached
from untilgreen.core.values.model import Reply
from untilgreen.core.values.state import RunState
from untilgreen.testing.stories import Play, tell


def in_a_turn(place: str) -> RunState:
    """A run in its second turn, with a conversation kept from the first."""
    events = [event for _, event in tell("a b", Fixed(iterations=3))]
    second = [number for number, event in enumerate(events) if isinstance(event, BriefOffered)][1]
    placed = (replace(each, place=place) if isinstance(each, Attached) else each for each in events)
    state = fold(islice(placed, second + 1))
    assert state is not None
    return replace(state, sessions={"agent": "a conversation"})


def attached(state: RunState, place: str) -> RunState:
    return apply(state, Attached(at=state.now, seat="unattended", place=place))


def test_a_driver_that_died_elsewhere_is_not_a_failure_of_the_agent() -> None:
    after = attached(in_a_turn("one"), "two")

    assert (after.errors, after.takeovers, after.place) == (0, 1, "two")


def test_a_driver_that_died_here_counts_as_before() -> None:
    for place in ("", "one"):
        after = attached(in_a_turn(place), place)
        assert (after.errors, after.takeovers) == (1, 0)


def test_conversations_stay_on_the_machine_that_had_them() -> None:
    assert attached(in_a_turn("one"), "two").sessions == {}
    assert attached(in_a_turn("one"), "one").sessions == {"agent": "a conversation"}
    assert attached(in_a_turn(""), "").sessions == {"agent": "a conversation"}


def test_too_many_machines_that_died_in_a_row_end_a_run_and_a_turn_begins_the_count_again() -> None:
    state = replace(in_a_turn("one"), takeovers=MOST_TAKEOVERS - 1)
    assert breached(state) is None

    last = attached(state, "two")

    breach = breached(last)
    assert breach is not None
    assert breach.reason == f"errors: {MOST_TAKEOVERS} machines in a row died during a turn"
    ended = apply(state, TurnEnded(at=state.now, lap=2, reply=Reply(text="done")))
    assert ended.takeovers == 0


def test_an_answer_to_an_older_question_is_refused() -> None:
    ids, asking = [], []
    for state, _ in Play("a b c", Manual()).start():
        if (identity := question_id(state)) and identity not in ids:
            ids.append(identity)
            asking.append(state)
    first, second = asking[:2]
    late = Answer(at=second.now, choice="continue", question=ids[0])

    assert ids[:2] == ["q1", "q2"]
    assert refusal(second, late) == "Question 'q1' is no longer open. See `untilgreen show story`."
    for answer in (replace(late, question=ids[1]), replace(late, question="")):
        assert [type(event) for event in receive(second, answer)] == [Answered]
    assert refusal(first, late) == ""


def test_nothing_that_is_asked_has_no_id() -> None:
    assert question_id(in_a_turn("")) == ""
