"""Everything the agent is told in a lap, and nothing that would be a claim if the agent repeated it."""

import re
from typing import Any

import pytest
from msgspec.structs import replace

from tests.core.helpers import BROKEN, PASS, SKIP, Run, Turn, gate, priced, red
from untilgreen.core.briefing.brief import (
    LONGEST_MESSAGE,
    MOST_CHANGES,
    MOST_FINDINGS,
    QUOTE_BUDGET,
    Brief,
    compose,
)
from untilgreen.core.briefing.claims import tag
from untilgreen.core.loop.receive import Pause, Steer
from untilgreen.core.loop.step import AwaitResume, Work
from untilgreen.core.values.decision import Continue
from untilgreen.core.values.limits import Limits
from untilgreen.core.values.model import Change, Finding, PartSpec, Promise, Reply, Verdict
from untilgreen.core.values.state import RunState

DONE = Promise(text="DONE")


class Advises:
    """A strategy that adds a hint to the next brief."""

    def decide(self, state: RunState, signals: Any) -> Continue:
        return Continue(reason="why not", hint="  Look at the clock.  ")


def brief_of(run: Run) -> Brief:
    run.until(Work)
    return compose(run.state)


def section(brief: Brief, title: str) -> str:
    """The text under a heading of the brief; empty if there is no such heading."""
    found = re.search(rf"^# {title}\n\n(.*?)(?=\n\n# |\Z)", brief.text, re.DOTALL | re.MULTILINE)
    return found[1] if found else ""


def test_the_first_brief_is_the_task_and_how_it_works() -> None:
    brief = brief_of(Run(task="\n  Fix the login.  \n"))

    assert brief.text.startswith("# Task\n\nFix the login.\n\n# How this works\n\nThis is lap 1 of 20.")
    assert brief.lap == 1
    assert re.findall("^# .*", brief.text, re.MULTILINE) == ["# Task", "# How this works"]


def test_the_same_state_gives_the_same_brief() -> None:
    run = Run()
    run.lap(tests=red("a", "b"))

    assert compose(run.state) == compose(run.state)


def test_a_run_without_a_lap_limit_counts_without_an_end() -> None:
    assert "This is lap 1. " in brief_of(Run(limits=Limits(iterations=None))).text


def test_after_the_baseline_the_brief_says_what_fails_before_any_turn() -> None:
    run = Run(baseline=True)
    run.lap(tests=red("test_login", "test_logout"))

    brief = brief_of(run)

    assert section(brief, "What still fails") == "## tests: 2 failing\n\n- test_login\n- test_logout"
    assert section(brief, "Your last turn") == ""
    assert brief.lap == 1


def test_a_failing_gate_is_shown_with_its_command_its_findings_and_its_output() -> None:
    run = Run(gate(shown_as="pytest -q"))
    verdict = Verdict(
        status="fail", findings=(Finding(id="test_login", message=" assert 1 == 2 "),), excerpt="\nE assert\n"
    )
    run.lap(tests=verdict)

    assert section(brief_of(run), "What still fails") == (
        "## tests: 1 failing\n\nRun it with: `pytest -q`\n\n- test_login: assert 1 == 2\n\n```\nE assert\n```"
    )
    assert brief_of(run).commands == ("pytest -q",)


def test_output_that_has_a_fence_gets_a_longer_one() -> None:
    run = Run()
    run.lap(tests=Verdict(status="fail", excerpt="```\ncode\n````"))

    assert section(brief_of(run), "What still fails").endswith("`````\n```\ncode\n````\n`````")


def test_required_gates_come_first_then_early_stages_and_green_ones_are_left_out() -> None:
    run = Run(
        gate("style", required=False), gate("types", stage=2), gate("tests"), gate("docs", required=False)
    )
    run.lap(style=red("s"), types=red("t"), tests=PASS, docs=SKIP)

    titles = re.findall("^## .*", brief_of(run).text, re.MULTILINE)

    assert titles == ["## types: 1 failing", "## style: 1 failing (not required)"]


def test_a_gate_that_could_not_run_is_not_said_to_fail() -> None:
    run = Run(gate("tests"), gate("lint"))
    run.lap(lint=BROKEN)

    assert "## lint: broken\n\n- exit 127: sh: pytst: not found" in brief_of(run).text


def test_findings_that_the_last_turn_brought_come_first_and_are_marked() -> None:
    run = Run()
    run.lap(tests=red("a", "b"))
    run.lap(tests=red("a", "b", "c"))

    assert section(brief_of(run), "What still fails").endswith("- (new) c\n- a\n- b")


def test_in_the_first_lap_the_baseline_tells_what_is_new() -> None:
    run = Run(baseline=True)
    run.lap(tests=red("a"))
    run.lap(tests=red("a", "b"))

    assert section(brief_of(run), "What still fails").endswith("- (new) b\n- a")


def test_a_long_list_of_findings_is_cut_and_the_rest_is_counted() -> None:
    run = Run()
    many = red(*(f"test_{number:03}" for number in range(40)))
    run.lap(tests=replace(many, more=5))

    shown = section(brief_of(run), "What still fails")

    assert shown.count("- test_") == MOST_FINDINGS
    assert shown.endswith(f"- and {45 - MOST_FINDINGS} more")


def test_a_long_message_is_cut_in_the_middle() -> None:
    run = Run()
    message = f"assert {'x' * 5000} == 17"
    run.lap(tests=Verdict(status="fail", findings=(Finding(id="a", message=message),)))

    shown = section(brief_of(run), "What still fails")
    assert len(shown) < LONGEST_MESSAGE + 100
    assert "- a: assert xxx" in shown
    assert shown.endswith("x == 17")


@pytest.mark.parametrize("gates", [1, 2, 7])
def test_what_is_quoted_shares_one_budget(gates: int) -> None:
    names = [f"gate{number}" for number in range(gates)]
    run = Run(*(gate(name) for name in names))
    long = Verdict(
        status="fail",
        findings=tuple(Finding(id=f"{number}-" + "i" * 900, message="m" * 900) for number in range(30)),
        excerpt="e" * 12_000,
    )
    run.lap(Turn(), **dict.fromkeys(names, long))

    quoted = section(brief_of(run), "What still fails")

    assert 0.6 * QUOTE_BUDGET < len(quoted) < QUOTE_BUDGET + 200 * gates


def test_a_long_task_is_never_cut() -> None:
    task = "word " * 10_000 + "end."

    assert task in brief_of(Run(task=task)).text


def test_a_rejected_claim_opens_the_next_brief() -> None:
    run = Run(gate("tests"), gate("lint"), promise=DONE)
    run.lap(Turn(claim=True), tests=red("a"))

    assert brief_of(run).text.startswith(
        "Your claim was rejected: you said that the task is done, but 1 of 2 gates is red: tests."
    )


def test_an_honest_lap_opens_with_the_task() -> None:
    run = Run(promise=DONE)
    run.lap(Turn(claim=False), tests=red("a"))

    assert brief_of(run).text.startswith("# Task")


def test_where_only_the_claim_is_missing_the_brief_asks_for_it() -> None:
    run = Run(promise=DONE)
    run.lap(tests=PASS)

    brief = brief_of(run)

    assert "If the task is done, say so as shown below" in section(brief, "Everything is green")
    assert section(brief, "What still fails") == ""


def test_a_claim_before_its_lap_is_answered_with_the_lap_from_which_on_it_is_heard() -> None:
    run = Run(promise=Promise(text="DONE", min=3))
    run.lap(Turn(claim=True), tests=PASS)

    brief = brief_of(run)

    assert "came too early; it counts from lap 3 on" in section(brief, "Everything is green")
    assert brief.text.startswith("# Task")


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        ("crash", "Your last turn ended with an error before it was finished: out of memory."),
        ("timeout", "Your last turn ran out of time; work in smaller steps: out of memory."),
        ("stalled", "Your last turn went silent and was ended: out of memory."),
        ("permission", "Your last turn tried something that is not permitted: out of memory."),
        (
            "question",
            "You asked a question, but nobody is here to answer it; decide yourself and continue: "
            "out of memory.",
        ),
    ],
)
def test_the_brief_says_why_the_last_turn_failed(error: Any, expected: str) -> None:
    run = Run()
    run.lap(Turn(reply=Reply(error=error, detail=" out of memory ")), tests=red("a"))

    assert section(brief_of(run), "Your last turn") == expected


def test_a_failure_without_details_is_a_plain_sentence() -> None:
    run = Run()
    run.lap(Turn(reply=Reply(error="crash")), tests=red("a"))

    assert section(brief_of(run), "Your last turn") == (
        "Your last turn ended with an error before it was finished."
    )


def test_what_was_not_permitted_is_named() -> None:
    run = Run()
    run.lap(Turn(reply=Reply(text="I tried", denied=("Bash(curl)", "WebFetch"))), tests=red("a"))

    assert section(brief_of(run), "Your last turn") == "Not permitted: Bash(curl), WebFetch. Work without it."


def test_the_agent_hears_what_its_last_turn_changed_and_fixed() -> None:
    run = Run()
    changes = (
        Change(path="a.py", status="added"),
        Change(path="b.py"),
        Change(path="c.py", status="deleted"),
    )
    run.lap(tests=red("a", "b"))
    run.lap(Turn(changes=changes), tests=red("b"))

    assert section(brief_of(run), "Your last turn") == (
        "It changed: added a.py, modified b.py, deleted c.py.\nIt fixed: tests: a."
    )


def test_a_long_list_of_changes_is_cut_and_the_rest_is_counted() -> None:
    run = Run()
    run.lap(Turn(changes=tuple(Change(path=f"{number}.py") for number in range(23))), tests=red("a"))

    shown = section(brief_of(run), "Your last turn")

    assert shown.count(".py") == MOST_CHANGES
    assert shown.endswith(" and 3 more.")


def test_a_turn_that_changed_nothing_hears_so() -> None:
    run = Run()
    run.lap(Turn(tree="tree-0"), tests=red("a"))

    assert section(brief_of(run), "Your last turn") == "It changed no file."


def test_a_turn_of_which_nothing_is_known_is_not_mentioned() -> None:
    run = Run()
    run.lap(Turn(tree="tree-9"), tests=red("a"))

    assert section(brief_of(run), "Your last turn") == ""


def test_a_hint_of_the_strategy_reaches_the_brief() -> None:
    run = Run(strategy=Advises())
    run.lap(tests=red("a"))

    assert section(brief_of(run), "Hint") == "Look at the clock."


def test_notes_are_in_one_brief_and_in_their_order() -> None:
    run = Run()
    run.arrive(Steer(at=0.0, id="1", note=" Use the new API. "))
    run.arrive(Steer(at=0.0, id="2", note="Leave the schema alone."))

    first = brief_of(run)
    run.lap(tests=red("a"))

    assert section(first, "From the person you work for") == "Use the new API.\n\nLeave the schema alone."
    assert section(brief_of(run), "From the person you work for") == ""


def test_a_note_that_arrives_during_a_turn_is_in_the_next_brief() -> None:
    run = Run()
    run.offer()
    run.arrive(Steer(at=0.0, id="1", note="Use the new API."))
    run.restart()
    run.lap(tests=red("a"))

    assert section(brief_of(run), "From the person you work for") == "Use the new API."


def test_only_where_there_is_a_promise_the_brief_says_how_to_give_it() -> None:
    assert tag(DONE) in brief_of(Run(promise=DONE)).text
    assert "<promise>" not in brief_of(Run()).text


@pytest.mark.parametrize("dress", ["{}", "  {}  ", "\t{}", "{}\r", "{0} {0}", "Before\n{}\nafter", "{}\n{}"])
@pytest.mark.parametrize("tag", ["<promise>DONE</promise>", "<PROMISE> done </Promise>"])
def test_the_brief_never_shows_the_tag_alone_on_a_line(tag: str, dress: str) -> None:
    text = dress.format(tag, tag)
    run = Run(promise=DONE, task=text)
    run.lap(tests=Verdict(status="fail", excerpt=text, findings=(Finding(id="x", message=text),)))
    run.arrive(Steer(at=0.0, id="1", note=text))

    shown = [line for line in brief_of(run).text.split("\n") if "promise>" in line.lower()]

    assert len(shown) >= 4
    assert all(re.search(r"\w", re.sub(r"(?i)<promise>.*?</promise>", "", line)) for line in shown)


def test_a_run_that_keeps_its_conversation_continues_it() -> None:
    run = Run(session="continue")
    first = brief_of(run)
    run.lap(Turn(reply=Reply(text="hello", session="s-1")), tests=red("a"))

    assert first.session is None
    assert brief_of(run).session == "s-1"


def test_by_default_every_lap_starts_a_new_conversation() -> None:
    run = Run()
    run.lap(Turn(reply=Reply(text="hello", session="s-1")), tests=red("a"))

    assert brief_of(run).session is None


def test_another_agent_does_not_get_the_conversation_of_the_first() -> None:
    class Switches:
        def decide(self, state: RunState, signals: Any) -> Continue:
            return Continue(reason="your turn", agent="two" if state.agent == "one" else "one")

    run = Run(session="continue", agents=(PartSpec(name="one"), PartSpec(name="two")), strategy=Switches())
    run.lap(Turn(reply=Reply(text="hello", session="s-1")), tests=red("a"))
    assert brief_of(run).session is None

    run.lap(Turn(reply=Reply(text="hello", session="s-2")), tests=red("a"))
    assert run.state.sessions == {"one": "s-1", "two": "s-2"}
    assert brief_of(run).session is None  # a change of agents starts again


def test_the_brief_carries_what_is_left_of_the_money() -> None:
    run = Run(limits=Limits(cost="$5"))
    run.lap(Turn(reply=priced(1.5)), tests=red("a"))

    assert brief_of(run).budget == pytest.approx(3.5)
    assert brief_of(Run()).budget is None


def test_a_brief_can_be_composed_where_no_lap_is_under_way() -> None:
    run = Run()
    run.lap(tests=PASS)

    assert compose(run.state).lap == 2


def test_a_pause_does_not_change_the_brief() -> None:
    run = Run()
    before = brief_of(run)
    run.arrive(Pause(at=0.0))

    run.until(AwaitResume)

    assert compose(run.state) == before


def test_the_brief_says_how_much_the_agent_may_do() -> None:
    assert brief_of(Run()).permissions == "gates"
    assert brief_of(Run(permissions="all")).permissions == "all"
