"""A person decides after every lap."""

import pytest

from tests.core.helpers import PASS, Run, Turn, continued, red
from untilgreen.core.briefing.brief import compose
from untilgreen.core.detectors.noop import Noop
from untilgreen.core.loop.receive import Answer
from untilgreen.core.loop.step import AwaitAnswer, Conclude, Decide, Restore, Work
from untilgreen.core.strategies.manual import Manual
from untilgreen.core.values.model import Outcome, PartSpec, Reply
from untilgreen.testing import story

RESTARTED = pytest.mark.parametrize("restarted", [False, True], ids=["running", "restarted"])


def after_two_laps() -> Run:
    run = Run(strategy=Manual(), agents=(PartSpec(name="one"), PartSpec(name="two")), answers=True)
    run.lap(Turn(reply=Reply(text="hello", session="s-1")), tests=red("a"))
    answered(run, Answer(at=0.0, choice="continue"), restarted=False)
    run.lap(tests=red("a", "b"))
    return run


def answered(run: Run, answer: Answer, *, restarted: bool) -> None:
    """Deliver the answer to the driver that asked, or to one that reads the journal."""
    if restarted:
        run.restart()
    assert run.arrive(answer)
    if restarted:
        run.restart()
    run.perform(run.until(Decide), Turn())


def test_it_asks_after_every_lap_and_waits_without_end() -> None:
    run = after_two_laps()

    assert run.step == AwaitAnswer(until=None)
    assert run.asked.question == "Lap 2 scored 0.00, 2 findings left. What next?"
    assert run.asked.choices == ("continue", "accept", "stop", "rollback", "agent")
    assert run.asked.metadata == {"score": 0.0, "signals": []}


def test_with_one_agent_another_is_not_offered() -> None:
    run = Run(strategy=Manual(), answers=True)
    run.lap(tests=red("a"))

    assert run.asked.choices == ("continue", "accept", "stop", "rollback")


def test_the_question_says_what_the_detectors_saw() -> None:
    run = Run(strategy=Manual(), detectors=[Noop()], answers=True)
    run.lap(Turn(tree="tree-0"), tests=red("a"))

    assert run.asked.question == "Lap 1 scored 0.00, 1 finding left. noop: no file changed. What next?"
    assert run.asked.metadata == {"score": 0.0, "signals": ["noop"]}


@RESTARTED
def test_continue_is_another_lap_and_its_note_reaches_the_brief(restarted: bool) -> None:
    run = after_two_laps()
    answered(
        run, Answer(at=0.0, choice="continue", note="Mind the time zone.", by="ann"), restarted=restarted
    )

    assert continued(run.decided).reason == "another lap was requested by ann"
    assert run.until(Work) == Work(lap=3, attempt=1, agent="one")
    assert "# From the person you work for\n\nMind the time zone." in compose(run.state).text


@RESTARTED
def test_accept_ends_the_run_with_this_laps_tree(restarted: bool) -> None:
    run = after_two_laps()
    answered(run, Answer(at=0.0, choice="accept", by="ann"), restarted=restarted)

    assert run.step == Conclude(outcome=Outcome.ACCEPTED, reason="lap 2 was accepted by ann")
    assert run.end().final_snapshot == "tree-2"


@RESTARTED
def test_stop_ends_the_run_and_leaves_the_tree(restarted: bool) -> None:
    run = after_two_laps()
    answered(run, Answer(at=0.0, choice="stop"), restarted=restarted)

    assert run.step == Conclude(outcome=Outcome.CANCELLED, reason="stopped after lap 2")
    assert run.end().final_snapshot == "tree-2"


@RESTARTED
@pytest.mark.parametrize(("lap", "tree"), [("0", "tree-0"), ("1", "tree-1"), ("2", "tree-2")])
def test_rollback_restores_that_laps_tree(lap: str, tree: str, restarted: bool) -> None:
    run = after_two_laps()
    answered(run, Answer(at=0.0, choice="rollback", argument=lap), restarted=restarted)

    assert continued(run.decided).reason == f"back to lap {lap}"
    assert run.step == Restore(lap=int(lap), snapshot=tree, why=f"back to lap {lap}")
    assert run.until(Work).lap == 3
    assert run.state.open is not None
    assert run.state.open.base == tree


@RESTARTED
def test_another_agent_continues_in_its_own_conversation(restarted: bool) -> None:
    run = after_two_laps()
    answered(run, Answer(at=0.0, choice="agent", argument="two", by="ann"), restarted=restarted)

    assert continued(run.decided).reason == "two continues by ann"
    assert run.until(Work) == Work(lap=3, attempt=1, agent="two")
    assert compose(run.state).session is None


def test_green_needs_no_question() -> None:
    run = Run(strategy=Manual(), answers=True)
    run.lap(tests=PASS)

    assert run.ending.outcome is Outcome.CONVERGED


def test_a_story_of_it_converges_when_the_person_continues() -> None:
    run = story("a b -", Manual())

    assert (run.outcome, len(run.laps)) == ("converged", 3)
