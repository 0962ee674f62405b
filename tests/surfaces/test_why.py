"""why: the evidence of the last decision, what would have to change, and the commands that go on."""

from typing import Any

from inline_snapshot import snapshot

from tests.core.helpers import PASS, Run, Turn, gate, priced, red
from untilgreen.core.detectors.cycle import Cycle
from untilgreen.core.events import Halted
from untilgreen.core.limits import Limits
from untilgreen.core.model import Change, PartSpec
from untilgreen.core.strategies.hybrid import Hybrid
from untilgreen.core.strategies.manual import Manual
from untilgreen.surfaces.why.reasons import reasons
from untilgreen.surfaces.why.words import words


def played(**options: Any) -> Run:
    """Equal laps until nothing is left to try."""
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


def test_a_stuck_run_is_explained_with_what_was_seen_what_was_tried_and_how_to_go_on() -> None:
    run = played()
    run.end()

    assert words(reasons(run.state), width=90) == snapshot(
        [
            "stuck: cycle in laps 2, 3, 4: the same failures, 3 times: tests: a, tests: b",
            "",
            "Decided after lap 4: the end, stuck (confidence 0.90, strategy hybrid)",
            "",
            "What the detectors saw",
            "  cycle (stuck) in laps 2, 3, 4: the same failures, 3 times: tests: a, tests: b",
            "",
            "The laps",
            "  lap 2: score 0.00, 2 complaints, 1 file changed [tree t1]",
            "  lap 3: score 0.00, 2 complaints, 1 file changed [tree t1]",
            "  lap 4: score 0.00, 2 complaints, 1 file changed, remedy 'hint' [tree t1]",
            "",
            "What was tried against it",
            "  hint in lap 4: nothing got better",
            "  not tried: switch",
            "",
            "What is red",
            "  tests: a, b",
            "",
            "Limits",
            "  iterations: 4 of 20",
            "  time: 26s of 4h",
            "  errors: 0 of 3",
            "",
            "What would have to change",
            "  The laps went round in a circle: the agent needs something that it does not have yet,",
            "    such as a note with what you know about the failure, another agent, or a task that",
            "    says less.",
            "  A lap with a score above 0.00, or with fewer than 2 complaints would end the streak.",
            "  With a second --agent, the remedy 'switch' could have been tried, too.",
            "  For green, 'tests' has to pass.",
            "",
            "How to go on",
            "  try again from its best files, with what you know:",
            "    untilgreen fork r1 --note 'NOTE'",
            "  let another agent try:",
            "    untilgreen fork r1 --agent AGENT",
            "  see what was changed:",
            "    untilgreen diff r1",
            "  check that it still holds:",
            "    untilgreen verify r1",
            "  hand it on:",
            "    untilgreen report r1 --format html --output report.html",
        ]
    )


def test_a_run_that_a_limit_ended_is_tried_again_with_twice_as_much_of_it() -> None:
    run = played(limits=Limits(iterations=2))
    run.end()

    told = reasons(run.state, flags=" --state-dir d")

    assert told.ways[0].command == "untilgreen fork r1 --max-iterations 4 --state-dir d"
    assert "The limit 'iterations' ended the run: a higher one lets it go on." in told.change
    assert [(each.limit, each.used, each.most) for each in told.limits if each.limit == "iterations"] == [
        ("iterations", "2", "2")
    ]


def test_a_cost_limit_is_doubled_as_money() -> None:
    run = Run(gate("tests"), limits=Limits(cost=1.0))
    run.lap(Turn(reply=priced(1.5)), tests=red("a"))
    run.end()

    told = reasons(run.state)

    assert told.ways[0].command == "untilgreen fork r1 --max-cost '$2.00'"


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


def test_a_run_that_was_blocked_before_its_first_lap_names_the_gates_to_mend() -> None:
    """A fork would put the files of lap 0 back, and undo what was mended."""
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
