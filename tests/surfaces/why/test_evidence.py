"""why: the evidence for the last decision, what has to change, and the commands to continue."""

from typing import Any

import msgspec
import pytest
from inline_snapshot import snapshot

from tests.core.endings import weakened
from tests.core.helpers import PASS, Run, Turn, gate, priced, red
from untilgreen.core.detectors.cycle import Cycle
from untilgreen.core.loop.step import Work
from untilgreen.core.strategies.hybrid import Hybrid
from untilgreen.core.strategies.manual import Manual
from untilgreen.core.values.events import BY_DEFAULT, Answered, Decided, Halted
from untilgreen.core.values.limits import Limits
from untilgreen.core.values.model import Change, PartSpec
from untilgreen.core.values.rules import Signal
from untilgreen.surfaces.report import html, markdown
from untilgreen.surfaces.report.content import gather
from untilgreen.surfaces.text.event_lines import line as told_line
from untilgreen.surfaces.why.evidence import reasons
from untilgreen.surfaces.why.text import words


def played(**options: Any) -> Run:
    """A run of identical laps until there is nothing left to try."""
    run = Run(
        gate("tests", options={"run": "pytest -q"}),
        strategy=Hybrid(),
        detectors=[Cycle()],
        **{
            "agents": (PartSpec(name="cmd:./fix.sh"),),
            "remedies": ("hint", "switch", "ask"),
            **options,
        },
    )
    while run.state.ending is None:
        if run.state.asked is not None and run.step is not None:
            run.perform(run.step, Turn())
        run.lap(Turn(changes=(Change(path="a.py"),), tree="t1"), tests=red("a", "b"))
    return run


def test_a_stuck_run_is_explained_with_what_was_seen_what_was_tried_and_how_to_continue() -> None:
    run = played()
    run.end()

    assert words(reasons(run.state), width=90) == snapshot(
        [
            "stuck: cycle in laps 2, 3, 4: the same failures, 3 times: tests: a, tests: b",
            "",
            "Decision after lap 4: end the run as stuck (confidence 0.90, strategy hybrid)",
            "",
            "What the detectors saw after lap 4",
            "  cycle (stuck) in laps 2, 3, 4: the same failures, 3 times: tests: a, tests: b [a,b",
            "    bb37dea5]",
            "",
            "Laps",
            "  lap 2: score 0.00, 2 findings, 1 file changed [snapshot t1]",
            "  lap 3: score 0.00, 2 findings, 1 file changed [snapshot t1]",
            "  lap 4: score 0.00, 2 findings, 1 file changed, remedy 'hint' [snapshot t1]",
            "",
            "What was tried",
            "  hint in lap 4: no improvement",
            "  not tried: switch",
            "",
            "Failing gates",
            "  tests: 2 failing: a, b",
            "",
            "Limits",
            "  iterations: 4 of 20",
            "  time: 26s of 4h",
            "  errors: 0 of 3",
            "",
            "What has to change",
            "  The laps are going in circles. Give the agent something new: a note with what you know",
            "    about the failure, another agent, or a smaller task.",
            "  A lap counts as progress when it beats score 0.00 or has fewer than 2 findings.",
            "  Add a second --agent, so that the remedy 'switch' can be tried.",
            "  'tests' must pass.",
            "",
            "Next steps",
            "  try again from its best files, with a note from you:",
            "    untilgreen fork r1 --note 'NOTE'",
            "  try another agent:",
            "    untilgreen fork r1 --agent AGENT",
            "  see the changes:",
            "    untilgreen diff r1",
            "  check that the result still holds:",
            "    untilgreen verify r1",
            "  share it:",
            "    untilgreen report r1 --format html --output report.html",
        ]
    )


def test_a_run_that_a_limit_ended_is_tried_again_with_twice_as_much_of_it() -> None:
    run = played(limits=Limits(iterations=2))
    run.end()

    told = reasons(run.state, flags=" --state-dir d")

    assert told.ways[0].command == "untilgreen fork r1 --max-iterations 4 --state-dir d"
    assert "The limit on laps ended the run. Raise it to continue." in told.change
    assert [(each.limit, each.used, each.most) for each in told.limits if each.limit == "iterations"] == [
        ("iterations", "2", "2")
    ]


def test_a_signal_of_your_own_detector_is_not_followed_by_saying_that_it_saw_nothing() -> None:
    """Its signals may have any kind, while its name in the spec is a path."""
    own = PartSpec(name="./detectors.py:Churn")
    run = Run(gate("tests"), strategy=Hybrid(), detectors=[Cycle()])
    run.lap(tests=red("a"))
    plan = msgspec.structs.replace(run.state.plan, detectors=(PartSpec(name="cycle"), own))
    churn = Signal(kind="churn", strength="stuck", laps=(1,), evidence="the same file in every lap")
    state = msgspec.structs.replace(
        run.state, plan=plan, laps=(msgspec.structs.replace(run.state.laps[0], signals=(churn,)),)
    )

    assert reasons(state).quiet == ("cycle",)
    assert "  churn (stuck) in lap 1: the same file in every lap" in words(reasons(state))
    assert "  no signal from: cycle" in words(reasons(state))


def test_remedies_are_not_mentioned_after_a_nudge() -> None:
    run = Run(gate("tests"), strategy=Hybrid())
    run.lap(tests=red("a"))
    nudge = Signal(kind="noop", strength="nudge", laps=(1,), evidence="no file changed")
    state = msgspec.structs.replace(
        run.state, laps=(msgspec.structs.replace(run.state.laps[0], signals=(nudge,)),)
    )
    told = "\n".join(words(reasons(state)))

    assert "noop (nudge) in lap 1" in told
    assert "What was tried" not in told
    assert "remedy" not in told


def test_a_custom_detector_that_saw_nothing_is_named_where_that_is_certain() -> None:
    run = Run(gate("tests"), strategy=Hybrid())
    run.lap(tests=red("a"))
    plan = msgspec.structs.replace(run.state.plan, detectors=(PartSpec(name="./detectors.py:Churn"),))

    assert reasons(msgspec.structs.replace(run.state, plan=plan)).quiet == ("./detectors.py:Churn",)


def test_weakened_tests_are_the_headline_and_the_first_thing_to_change() -> None:
    told = reasons(weakened().state)

    assert told.reason.startswith("tests were weakened: tests/test_a.py (limit iterations")
    assert told.change[0].startswith("The gates pass only because the agent changed protected files")


def test_a_cost_limit_is_doubled_as_money() -> None:
    run = Run(gate("tests"), limits=Limits(cost=1.0))
    run.lap(Turn(reply=priced(1.5)), tests=red("a"))
    run.end()

    told = reasons(run.state)

    assert told.ways[0].command == "untilgreen fork r1 --max-cost '$2.00'"


def test_what_is_used_of_a_limit_is_unknown_where_no_turn_reported_it() -> None:
    limits = Limits(iterations=2, cost="$5", tokens=1000, unknown_cost="ignore")
    silent, told = Run(limits=limits), Run(limits=limits)
    silent.lap(tests=red("a"))
    told.lap(Turn(reply=priced(0.5, 7)), tests=red("a"))

    def used(run: Run) -> dict[str, str]:
        return {each.limit: each.used for each in reasons(run.state).limits}

    assert (used(silent)["cost"], used(silent)["tokens"]) == ("unknown", "unknown")
    assert (used(told)["cost"], used(told)["tokens"]) == ("$0.50", "7")
    assert "  cost: unknown of $5.00" in words(reasons(silent.state), width=90)


def test_a_waiting_run_names_a_command_for_each_answer() -> None:
    run = Run(gate("tests"), strategy=Manual(), answers=True)
    run.lap(tests=red("a"))

    commands = [way.command for way in reasons(run.state).ways]

    assert commands[:2] == ["untilgreen answer r1 continue", "untilgreen answer r1 accept"]
    assert "untilgreen answer r1 rollback 1" in commands
    assert commands[-1] == "untilgreen resume r1"


def test_a_green_run_needs_no_change_and_is_not_tried_again() -> None:
    run = Run(gate("tests"))
    run.lap(tests=PASS)
    run.end()

    told = reasons(run.state)

    assert (told.status, told.change, told.red) == ("converged", (), ())
    assert all("untilgreen fork" not in way.command for way in told.ways)


def test_an_agent_that_can_not_be_used_is_named_with_its_reason() -> None:
    run = Run(gate("tests"))
    run.offer()
    run.record(Halted(at=run.state.now, cause="auth", detail="log in with `claude login`."))

    told = reasons(run.state)

    assert told.change[0] == "The agent can't be used: log in with `claude login`."
    assert told.ways[0].command == f"untilgreen doctor --agent {run.state.agent}"


def test_a_run_that_was_blocked_before_its_first_lap_names_the_gates_to_fix() -> None:
    """A fork would restore the files of lap 0, and so undo the fix."""
    run = Run(
        gate("tests", options={"run": "pytest -q"}, on_fail="stop"),
        gate("lint", options={"run": "ruff check"}),
        gate("make", options={"run": "make"}),
        baseline=True,
    )
    run.lap(tests=red("a"), lint=PASS, make=red("exit code 1"))
    run.end()

    told = reasons(run.state)

    assert told.status == "blocked"
    assert [way.command for way in told.ways] == ["untilgreen check --gate 'tests=pytest -q' --gate make"]


def test_no_escape_sequence_of_a_gate_or_an_agent_reaches_the_reader() -> None:
    run = Run(gate("te\x1b[31msts"), strategy=Hybrid(), detectors=[Cycle()], remedies=("hint",))
    while run.state.ending is None:
        run.lap(Turn(tree="t"), **{"te\x1b[31msts": red("evil\x1b]0;owned\x07\n::error::x")})
    run.end()

    text = "".join(words(reasons(run.state)))

    assert "\x1b" not in text
    assert "\x07" not in text
    assert "\n" not in text


@pytest.mark.parametrize(("by", "unanswered"), [("ann", {}), (BY_DEFAULT, {"lint": (1,)})])
def test_a_question_that_a_person_answered_is_not_called_unanswered(
    by: str, unanswered: dict[str, tuple[int, ...]]
) -> None:
    run = Run(gate("tests"), gate("lint", on_fail="ask"), strategy=Hybrid(), answers=True)
    run.lap(tests=red("a"), lint=red("x"))
    run.record(Answered(at=run.state.now, choice="continue", by=by))
    run.until(Work)

    assert reasons(run.state).unanswered == unanswered


def test_a_question_that_nobody_could_answer_is_named_in_why_report_and_log() -> None:
    run = Run(gate("tests"), gate("lint", on_fail="ask"), strategy=Hybrid())
    run.lap(tests=red("a"), lint=red("x"))
    run.lap(tests=red("b"), lint=red("x"))

    told = reasons(run.state)
    report = gather(run.state, "0123456789abcdef", started=0.0)

    assert told.unanswered == {"lint": (1, 2)}
    assert "  lint in laps 1, 2: nobody could answer" in words(told)
    assert "asked for a person: `lint in laps 1, 2: nobody could answer`" in markdown.document(report)
    assert "lint in laps 1, 2: nobody could answer" in html.page(report)
    decided = [event for event in run.events if isinstance(event, Decided)][-1]
    assert "lint asked for a person, but nobody can answer; continues" in (
        told_line(decided, run.state) or ""
    )
