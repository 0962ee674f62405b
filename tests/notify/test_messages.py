"""Events worth a message: the end, being stuck, waiting for a person, pauses, and limits nearly used."""

from typing import Any

import pytest

from tests.core.endings import weakened
from tests.core.helpers import PASS, Run, Turn, gate, priced, red
from untilgreen.core.detectors.cycle import Cycle
from untilgreen.core.loop.fold import apply
from untilgreen.core.loop.receive import Pause
from untilgreen.core.strategies.hybrid import Hybrid
from untilgreen.core.strategies.manual import Manual
from untilgreen.core.values.events import Halted
from untilgreen.core.values.limits import Limits
from untilgreen.core.values.model import Reply
from untilgreen.notify.messages import KINDS, USUAL, News, news


def told(run: Run, kinds: tuple[str, ...] = USUAL) -> list[News]:
    """All messages about a run, event by event."""
    state, found = None, []
    for event in run.events:
        state = apply(state, event)
        if piece := news(event, state, kinds):
            found.append(piece)
    return found


def said(run: Run) -> list[tuple[str, str]]:
    return [(each.news, each.text) for each in told(run)]


def test_a_green_run_is_one_piece_of_news_with_its_figures() -> None:
    run = Run()
    run.lap(Turn(reply=priced(0.5, 100)))
    run.end()

    (piece,) = told(run)

    assert piece == News(
        news="finished",
        run="r1",
        task="make it green",
        text="make it green: converged: all required gates pass in lap 1 (1 lap in 8s, $0.50)",
        outcome="converged",
        laps=1,
        score=1.0,
        cost=0.5,
        tokens=100,
        command="untilgreen show r1",
    )


def test_a_run_that_ended_with_weakened_tests_says_so_and_not_only_which_limit_it_hit() -> None:
    run = weakened()

    ((kind, text),) = said(run)[-1:]

    assert kind == "finished"
    assert text.startswith("make it green: exhausted: tests were weakened: tests/test_a.py (limit iterations")


def test_a_stuck_run_is_reported_as_stuck() -> None:
    run = Run(strategy=Hybrid(), detectors=[Cycle()])
    while run.state.ending is None:
        run.lap(tests=red("a"))
    run.end()

    assert [kind for kind, _ in said(run)] == ["stuck"]


def test_a_question_is_reported_where_somebody_can_answer_it() -> None:
    run = Run(strategy=Manual(), answers=True)
    run.lap(tests=red("a"))

    ((kind, text),) = said(run)

    assert kind == "waiting"
    assert "waiting for your answer" in text


def test_a_gate_that_asks_where_nobody_can_answer_is_reported_once_until_it_passes() -> None:
    run = Run(gate("tests"), gate("lint", on_fail="ask"), strategy=Hybrid())
    run.lap(tests=red("a"), lint=red("x"))
    run.lap(tests=red("b"), lint=red("y"))
    run.lap(tests=red("c"), lint=PASS)
    run.lap(tests=red("d"), lint=red("z"))

    messages = said(run)

    assert [kind for kind, _ in messages] == ["escalated", "escalated"]
    assert messages[0][1].startswith(
        "make it green: lint failed, and nobody can answer, so the run continues: "
    )
    assert [lap.unanswered for lap in run.state.laps] == [("lint",), ("lint",), (), ("lint",)]


def test_a_gate_that_asks_for_a_person_who_is_there_waits_for_the_answer() -> None:
    run = Run(gate("lint", on_fail="ask"), strategy=Hybrid(), answers=True)
    run.lap(lint=red("x"))

    assert [kind for kind, _ in said(run)] == ["waiting"]
    assert run.state.laps[0].unanswered == ()


def test_an_approval_is_reported_once_for_each_lap_that_waits_for_it() -> None:
    run = Run(gate("tests"), gate("ok", kind="approval", stage=2, options={"people": ["ann", "bob"]}))
    while type(run.step).__name__ != "AwaitAnswer":
        assert run.step is not None
        run.perform(run.step, Turn())

    assert said(run) == [("waiting", "make it green: gate 'ok' is waiting for approval by ann, bob")]


@pytest.mark.parametrize(
    ("limits", "turn", "text"),
    [
        ({"iterations": 5}, Turn(), "4 of 5 laps used"),
        ({"cost": 1.0}, Turn(reply=priced(0.22)), "$0.88 of $1.00 cost used"),
        ({"tokens": 1000}, Turn(reply=priced(0.0, 220)), "880 of 1,000 tokens used"),
        ({"time": 500.0}, Turn(seconds=100.0), "of 8m20s time used"),
    ],
)
def test_a_limit_is_reported_once_when_a_lap_brings_it_to_four_fifths(
    limits: dict[str, Any], turn: Turn, text: str
) -> None:
    run = Run(limits=Limits(**limits))
    for _ in range(4):
        run.lap(turn, tests=red("a"))

    ((kind, said_),) = said(run)

    assert kind == "budget"
    assert text in said_


def test_a_limit_that_was_reported_is_not_reported_again() -> None:
    run = Run(limits=Limits(iterations=20))
    for _ in range(18):
        run.lap(tests=red("a"))

    assert said(run) == [("budget", "make it green: 16 of 20 laps used")]


def test_pauses_and_agents_that_can_not_be_used_are_reported() -> None:
    run = Run()
    run.lap(Turn(reply=Reply(error="rate_limited", retry_at=400.0)), tests=red("a"))
    run.record(Halted(at=run.state.now, cause="auth", detail="log in"))

    limited, _ = told(run)
    assert (limited.news, limited.text) == ("paused", "make it green: rate-limited; resuming in 6m36s")
    assert limited.command == "untilgreen follow r1", "the waiting process continues the run itself"
    assert said(run)[-1] == ("waiting", "make it green: the agent can't be used (auth): log in")


def test_a_pause_by_a_person_is_reported_with_the_command_that_ends_it() -> None:
    run = Run(task="Make it green.")
    run.arrive(Pause(at=run.state.now, reason="lunch"))

    (lunch,) = told(run)

    assert (lunch.text, lunch.command) == ("Make it green: paused: lunch", "untilgreen resume r1")


def test_only_the_kinds_that_are_wanted_are_reported() -> None:
    run = Run()
    run.lap()
    run.end()

    assert told(run, ("stuck", "waiting")) == []


def test_laps_are_reported_to_those_who_ask() -> None:
    run = Run(limits=Limits(iterations=9))
    run.lap(tests=red("a"))
    run.lap()
    run.end()

    assert [(each.news, each.text) for each in told(run, KINDS)] == [
        ("started", "make it green: started, lap 1 of 9"),
        ("lap", "make it green: lap 2 of 9"),
        ("finished", "make it green: converged: all required gates pass in lap 2 (2 laps in 14s)"),
    ]
    assert [each.news for each in told(run)] == ["finished"]
