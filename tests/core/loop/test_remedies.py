"""What is tried before a stuck run is given up: one rung per lap, until one helps or none is left."""

import re
from collections.abc import Sequence
from typing import Any

import pytest

from tests.core.helpers import PASS, Run, Turn, continued, red
from untilgreen.core.briefing.brief import compose
from untilgreen.core.detectors.cycle import Cycle
from untilgreen.core.detectors.similar import Similar
from untilgreen.core.loop.receive import Answer, Resume
from untilgreen.core.loop.remedies import RUNGS, hint, next_rung, other_agent
from untilgreen.core.loop.step import AwaitAnswer, AwaitResume, Decide, Restore, TakeDefault, TryRemedy, Work
from untilgreen.core.strategies.fixed import Fixed
from untilgreen.core.strategies.hybrid import Hybrid
from untilgreen.core.strategies.ralph import Ralph
from untilgreen.core.values.decision import Finish
from untilgreen.core.values.events import BriefOffered, Event, RemedyTried
from untilgreen.core.values.fingerprint import fingerprint
from untilgreen.core.values.limits import Limits
from untilgreen.core.values.model import Change, Outcome, PartSpec, Promise, Reply
from untilgreen.core.values.rules import Signal, Strategy
from untilgreen.core.values.state import RunState
from untilgreen.core.values.units import all_used
from untilgreen.testing import tell

TWO_AGENTS = (PartSpec(name="one"), PartSpec(name="two"))


def play(
    played: str, remedies: Sequence[str] = RUNGS, agents: Sequence[str] = ("one", "two"), **options: Any
) -> tuple[RunState, list[Event]]:
    """The final state of a story, and all its events."""
    strategy = options.pop("strategy", Fixed(iterations=20))
    happened = list(tell(played, strategy, remedies=remedies, agents=agents, **options))
    return happened[-1][0], [event for _, event in happened]


def rungs(events: Sequence[Event]) -> list[tuple[int, str]]:
    return [(event.lap, event.rung) for event in events if isinstance(event, RemedyTried)]


def stuck(**options: Any) -> Run:
    """A run that has just gone in circles for the third time."""
    options.setdefault("remedies", RUNGS)
    run = Run(strategy=Fixed(iterations=50), detectors=[Cycle()], **options)
    run.lap(Turn(changes=(Change(path="a.py"),)), tests=red("a", "b"))
    for _ in range(2):
        run.lap(tests=red("a", "b"))
    return run


def test_a_stuck_run_tries_each_rung_once_and_one_lap_each() -> None:
    state, events = play("a=")

    assert rungs(events) == [(4, "hint"), (5, "fresh"), (6, "best"), (7, "switch")]
    assert [lap.remedy for lap in state.laps] == [None, None, None, "hint", "fresh", "best", "switch"]
    assert state.outcome == "stuck"


def test_the_question_takes_no_lap_unless_it_is_answered_and_its_default_is_the_end() -> None:
    state, events = play("a=", remedies=("ask",))

    assert rungs(events) == []
    assert len(state.laps) == 3
    assert state.outcome == "stuck"


def test_the_ladder_is_the_specs_own() -> None:
    _, events = play("a=", remedies=("fresh", "hint"))

    assert rungs(events) == [(4, "fresh"), (5, "hint")]


def test_without_remedies_stuck_is_the_end_at_once() -> None:
    state, events = play("a=", remedies=())

    assert rungs(events) == []
    assert (state.outcome, len(state.laps)) == ("stuck", 3)


def test_another_agent_is_tried_only_where_the_spec_names_one() -> None:
    state, events = play("a=", agents=("one",))

    assert rungs(events) == [(4, "hint"), (5, "fresh"), (6, "best")]
    assert {lap.agent for lap in state.laps} == {"one"}


def test_another_agent_does_the_lap_of_its_rung() -> None:
    state, _ = play("a=")

    assert [lap.agent for lap in state.laps] == ["one"] * 6 + ["two"]


def test_a_rung_that_leads_to_a_smaller_failing_set_resets_the_ladder() -> None:
    state, events = play("ab= ab= ab= a a= a=", remedies=("hint", "fresh"), strategy=Fixed(iterations=30))

    assert rungs(events) == [(4, "hint"), (7, "hint"), (8, "fresh")]
    assert state.outcome == "stuck"


def test_a_remedy_that_helps_ends_in_success() -> None:
    state, events = play("a= a= a= a= -")

    assert rungs(events) == [(4, "hint"), (5, "fresh")]
    assert (state.outcome, len(state.laps)) == ("converged", 5)


@pytest.mark.parametrize(
    ("strategy", "most"),
    [
        (Fixed(iterations=3), 3),
        (Fixed(iterations=5), 5),
        (Ralph(max=3), 3),
        (Ralph(max=6), 6),
        (Hybrid(base=3, bonus=2), 5),
    ],
)
@pytest.mark.parametrize("agents", [("one",), ("one", "two")])
def test_laps_of_the_ladder_are_taken_out_of_the_strategys_own(
    strategy: Strategy, most: int, agents: tuple[str, ...]
) -> None:
    state, events = play("a=", strategy=strategy, agents=agents)

    assert len(state.laps) == most
    assert [lap for lap, _ in rungs(events)] == list(range(4, most + 1))[: len(rungs(events))]
    assert state.outcome == "stuck"
    assert state.reason.startswith(f"{all_used(most, 'lap')}; ")


def test_an_unlimited_strategy_ends_by_another_limit() -> None:
    state, _ = play("a", strategy=Fixed(iterations="unlimited"), limits=Limits(iterations=30), detectors=())

    assert len(state.laps) == 30


def test_laps_of_the_ladder_count_against_the_limits() -> None:
    state, _ = play("a=", limits=Limits(iterations=4))

    assert len(state.laps) == 4
    assert state.outcome == "stuck"
    assert "iterations: 4 of 4 used" in state.reason


def test_an_end_that_is_not_stuck_is_not_treated() -> None:
    state, events = play("a b c", strategy=Fixed(iterations=3))

    assert rungs(events) == []
    assert state.outcome == "exhausted"


def test_good_enough_is_asked_for_after_the_remedies() -> None:
    strategy = Hybrid(accept_after=3, accept_floor=0.5)
    state, events = play("abcd ab= ab= ab=", remedies=("hint",), strategy=strategy)

    assert rungs(events) == [(5, "hint")]
    assert state.outcome == "accepted"


# Each rung


def test_hint_says_what_repeats_what_was_tried_and_not_to_try_it_again() -> None:
    run = stuck()

    decision = continued(run.decided)

    assert decision.remedy == "hint"
    assert (decision.restore, decision.agent) == (None, None)
    assert decision.confidence == 0.9
    assert decision.hint is not None
    assert "the same failures: tests: a, tests: b" in decision.hint
    assert "- lap 1 changed a.py\n- lap 2 changed nothing\n- lap 3 changed nothing" in decision.hint
    assert "Do not try this again." in decision.hint
    run.until(Work)
    assert "Do not try this again." in compose(run.state).text


def test_only_the_laps_that_show_the_pattern_are_listed() -> None:
    run = Run(strategy=Fixed(iterations=50), remedies=("hint", "ask"), detectors=[Cycle()], answers=True)
    for ids in ("xyz", "ab", "ab", "ab"):
        run.lap(tests=red(*ids))
    words = continued(run.decided).hint or ""
    run.lap(tests=red("a", "b"))

    assert re.findall(r"- lap (\d+) changed", words) == ["2", "3", "4"]
    assert re.findall(r"^lap (\d+): score", run.asked.question, re.MULTILINE) == ["3", "4", "5"]


def test_of_a_long_pattern_the_latest_laps_are_listed() -> None:
    run = Run()
    for _ in range(12):
        run.lap(tests=red("a"))
    long = Signal(kind="mine", strength="stuck", laps=tuple(range(1, 13)), evidence="always the same")

    assert re.findall(r"- lap (\d+) changed", hint(run.state, (long,))) == [str(lap) for lap in range(4, 13)]


def test_a_hint_without_a_signal_is_the_plain_request() -> None:
    assert hint(Run().state, ()).startswith("Do not try this again.")


def test_fresh_starts_a_new_conversation() -> None:
    run = Run(strategy=Fixed(iterations=50), remedies=("fresh",), detectors=[Cycle()], session="continue")
    for _ in range(3):
        run.lap(Turn(reply=Reply(text="hello", session="s-1")), tests=red("a"))
    assert isinstance(run.until(TryRemedy), TryRemedy)
    run.until(Work)

    assert compose(run.state).session is None
    run.lap(Turn(reply=Reply(text="hello", session="s-2")), tests=red("b"))
    run.until(Work)
    assert compose(run.state).session == "s-2"


def test_a_hint_stays_in_the_conversation() -> None:
    run = Run(strategy=Fixed(iterations=50), remedies=("hint",), detectors=[Cycle()], session="continue")
    for _ in range(3):
        run.lap(Turn(reply=Reply(text="hello", session="s-1")), tests=red("a"))
    run.until(Work)

    assert compose(run.state).session == "s-1"


def test_best_goes_back_to_the_best_tree() -> None:
    run = Run(strategy=Fixed(iterations=50), remedies=("best",), detectors=[Cycle()])
    run.lap(tests=red("a"))
    for _ in range(3):
        run.lap(tests=red("b", "c"))

    assert run.step == Restore(lap=1, snapshot="tree-1", why="back to lap 1")
    run.until(Work)
    assert run.state.tree == "tree-1"
    assert run.state.open is not None
    assert run.state.open.base == "tree-1"


def test_switch_gives_the_lap_to_the_next_agent_and_from_the_last_to_the_first() -> None:
    run = stuck(remedies=("switch",), agents=TWO_AGENTS)
    assert run.until(Work).agent == "two"
    assert other_agent(run.state) == "one"
    assert run.state.open is not None
    assert run.state.open.fresh


def test_the_next_of_three_agents_is_the_one_behind_it() -> None:
    agents = tuple(PartSpec(name=name) for name in ("one", "two", "three"))

    assert other_agent(stuck(remedies=(), agents=agents).state) == "two"


def test_after_an_agent_that_the_plan_does_not_know_the_first_is_next() -> None:
    run = Run(agents=TWO_AGENTS)
    run.until(Work)
    run.record(BriefOffered(at=9.0, lap=1, agent="somebody"))

    assert other_agent(run.state) == "one"


def test_a_run_with_one_agent_has_no_other() -> None:
    assert other_agent(Run().state) is None


def test_in_a_session_only_hint_and_ask_apply() -> None:
    run = Run(strategy=Fixed(iterations=50), remedies=RUNGS, agents=TWO_AGENTS, detectors=[Cycle()])
    run.restart(seat="session", session="s-1", answers=True)
    for _ in range(4):
        run.lap(tests=red("a"))
    run.until(AwaitAnswer)

    assert rungs(run.events) == [(4, "hint")]


def test_best_does_not_apply_before_there_is_any() -> None:
    assert next_rung(Run(remedies=("best",)).state) is None
    assert next_rung(Run(remedies=("best", "hint")).state) == "hint"


# The question


def test_a_question_waits_forever_only_where_the_spec_says_so() -> None:
    usual, patient = question(), question(wait="forever")

    assert usual.asked.until == 15 * 60
    assert "Without an answer it ends with the best lap." in usual.asked.question
    assert patient.step == AwaitAnswer(until=None)
    assert "Without an answer" not in patient.asked.question


def question(**options: Any) -> Run:
    run = stuck(remedies=("ask",), answers=True, **options)
    assert isinstance(run.step, AwaitAnswer)
    return run


def test_the_question_shows_the_pattern_and_one_line_for_each_lap() -> None:
    run = question()

    assert run.asked.question.splitlines() == [
        "The run is stuck: cycle in laps 1, 2, 3: the same failures, 3 times: tests: a, tests: b",
        f"Signature: a,b ({fingerprint('a b')[:8]})",
        'lap 1: score 0.00, 2 findings, changed a.py: "worked on it"',
        'lap 2: score 0.00, 2 findings, changed no file: "worked on it"',
        'lap 3: score 0.00, 2 findings, changed no file: "worked on it"',
        "Without an answer it ends with the best lap.",
    ]
    assert run.asked.choices == ("different approach", "review", "cancel", "end")
    assert run.asked.default == "end"
    assert run.asked.confidence == 0.9
    assert run.asked.metadata == {"signal": "cycle", "about": "stuck"}


def test_the_loop_of_the_document_can_be_judged_in_ten_seconds() -> None:
    run = Run(strategy=Ralph(), detectors=[Similar()], remedies=("ask",), answers=True, promise=Promise())
    paths = tuple(Change(path=f"src/{name}.ts") for name in ("auth", "user", "main"))
    for _ in range(3):
        reply = Reply(text="Fixed auth.ts - added null check\nand ran nothing")
        run.lap(Turn(reply=reply, tree="same", changes=paths), tests=red("a"))

    lap = 'score 0.00, 1 finding, changed src/auth.ts, src/user.ts and 1 more: "Fixed auth.ts'
    assert run.asked.question.splitlines() == [
        "The run is stuck: similar in laps 1, 2, 3: replies 100% alike, the same files and findings",
        f"Signature: auth.ts:null-check ({fingerprint(reply.text)[:8]})",
        *(f'lap {number}: {lap} - added null check and ran nothing"' for number in (1, 2, 3)),
        'It keeps saying: "Fixed auth.ts - added null check and ran nothing"',
        "Without an answer it ends with the best lap.",
    ]


def test_a_different_approach_may_say_which() -> None:
    run = question()
    run.arrive(Answer(at=200.0, choice="different approach", note="Look at the cache instead.", by="ann"))
    run.until(Work)

    assert "Look at the cache instead." in compose(run.state).text


@pytest.mark.parametrize("restarted", [False, True])
@pytest.mark.parametrize(("choice", "outcome"), [("cancel", "cancelled"), ("end", "stuck")])
def test_an_answer_can_end_a_stuck_run(choice: str, outcome: str, restarted: bool) -> None:
    run = question()
    run.arrive(Answer(at=0.0, choice=choice))
    if restarted:
        run.restart()

    state = run.end()

    assert state.outcome == outcome
    assert state.reason.startswith("cycle in laps 1, 2, 3")
    assert len(state.laps) == 3


@pytest.mark.parametrize("restarted", [False, True])
def test_a_different_approach_is_one_more_lap_with_a_hint_and_the_persons_note(restarted: bool) -> None:
    run = question()
    run.arrive(Answer(at=0.0, choice="different approach", note="Rewrite the parser.", by="ann"))
    if restarted:
        run.restart()
    run.perform(run.until(Decide), Turn())

    decision = continued(run.decided)
    assert (decision.remedy, decision.reason) == ("ask", "different approach was requested by ann")
    assert run.until(Work).lap == 4
    text = compose(run.state).text
    assert "Do not try this again." in text
    assert "Rewrite the parser." in text
    assert rungs(run.events) == [(4, "ask")]


def test_an_anonymous_answer_is_accepted_too() -> None:
    run = question()
    run.arrive(Answer(at=0.0, choice="different approach"))
    run.perform(run.until(Decide), Turn())

    assert continued(run.decided).reason == "different approach was requested"


def test_after_a_different_approach_that_does_not_help_the_run_ends() -> None:
    run = question()
    run.arrive(Answer(at=0.0, choice="different approach"))
    run.perform(run.until(Decide), Turn())
    run.lap(tests=red("a", "b"))

    assert run.ending.outcome is Outcome.STUCK


def test_a_review_pauses_the_run_until_somebody_resumes_it() -> None:
    run = question()
    run.arrive(Answer(at=0.0, choice="review"))
    run.perform(run.until(Decide), Turn())

    assert isinstance(run.until(AwaitResume), AwaitResume)
    run.restart()
    assert isinstance(run.step, AwaitResume)
    run.arrive(Resume(at=0.0))
    assert run.until(Work).lap == 4


def test_where_nobody_can_answer_the_default_happens_at_once() -> None:
    run = stuck(remedies=("ask",), answers=False)

    assert run.step == TakeDefault(choice="end")
    assert run.end().outcome is Outcome.STUCK


def test_the_default_may_be_good_enough() -> None:
    run = Run(
        strategy=Hybrid(accept_after=1, accept_floor=0.1),
        remedies=("ask",),
        detectors=[Cycle()],
        answers=False,
    )
    for _ in range(3):
        run.lap(tests=red("a", score=0.5))

    assert run.end().outcome is Outcome.ACCEPTED


def test_a_lap_of_the_ladder_that_is_interrupted_is_tried_again() -> None:
    run = stuck(remedies=("hint",))
    run.offer()
    run.restart()
    run.lap(tests=red("a", "b"))
    run.until(Work)

    assert "Do not try this again." in compose(run.state).text
    assert run.state.tried == ("hint",)
    run.lap(tests=PASS)
    assert run.last.remedy == "hint"


class GivesUp:
    """A strategy that ends as stuck although no detector reported anything."""

    def decide(self, state: RunState, signals: Any) -> Finish:
        return Finish(outcome=Outcome.STUCK, reason="I have seen enough", confidence=0.4)


def test_every_custom_strategy_gets_the_ladder_for_free() -> None:
    run = Run(strategy=GivesUp(), remedies=("hint", "fresh"))
    run.lap(tests=red("a"))
    decision = continued(run.decided)
    run.lap(tests=red("a"))
    run.lap(tests=red("a"))

    assert decision.reason == "stuck (I have seen enough); trying 'hint'"
    assert decision.confidence == 0.4
    assert rungs(run.events) == [(2, "hint"), (3, "fresh")]
    assert run.ending.reason == "I have seen enough"


def test_a_question_without_a_signal_shows_no_laps() -> None:
    run = Run(strategy=GivesUp(), remedies=("ask",), answers=True)
    run.lap(tests=red("a"))

    assert run.asked.question.splitlines() == [
        "The run is stuck: I have seen enough",
        "Without an answer it ends with the best lap.",
    ]
