"""The health of gates before the first lap: green, red or broken, and flaky or slow as well."""

import pytest

from tests.core.helpers import BROKEN, PASS, SKIP, TIMED_OUT, Run, gate, red
from untilgreen.core.scoring.gate_health import (
    flakes,
    health,
    health_by_gate,
    health_in_words,
    out_of_time,
    timed_out,
    unrunnable,
)
from untilgreen.core.values.model import Plan, Verdict


@pytest.mark.parametrize(
    ("verdict", "words"),
    [
        (PASS, ["green"]),
        (red("a"), ["red"]),
        (BROKEN, ["broken"]),
        (SKIP, []),
        (TIMED_OUT, ["red", "slow"]),
        (Verdict(status="pass", flaky=True), ["green", "flaky"]),
        (Verdict(status="fail", flaky=True, duration=90.0), ["red", "flaky", "slow"]),
        (Verdict(status="pass", duration=59.9), ["green"]),
        (Verdict(status="pass", duration=60.0), ["green", "slow"]),
    ],
)
def test_each_gate_has_its_words(verdict: Verdict, words: list[str]) -> None:
    assert health(gate("tests"), verdict) == words


def test_a_gate_is_slow_that_takes_half_of_what_it_has() -> None:
    short = gate("tests", timeout=10.0)

    assert health(short, Verdict(status="pass", duration=5.0)) == ["green", "slow"]
    assert health(short, Verdict(status="pass", duration=4.9)) == ["green"]
    assert health(gate("tests", timeout=None), Verdict(status="pass", duration=5.0)) == ["green"]


def test_a_gate_that_ran_out_of_time_could_run() -> None:
    assert not unrunnable(TIMED_OUT)
    assert unrunnable(BROKEN)
    assert not unrunnable(red("a"))


def test_what_is_more_than_green_or_red_comes_first() -> None:
    plan = Plan(task="t", gates=(gate("lint"), gate("e2e", timeout=None), gate("late"), gate("tests")))
    verdicts = {
        "lint": PASS,
        "e2e": Verdict(status="pass", duration=90.0),
        "late": SKIP,
        "tests": Verdict(status="fail", duration=400.0, flaky=True),
    }

    assert health_by_gate(plan, verdicts).keys() == {"lint", "e2e", "tests"}
    assert health_in_words(plan, verdicts) == (
        "tests: failing, flaky, slow (6m40s of its 10m); e2e: green, slow (1m30s); lint: green"
    )
    assert health_in_words(plan, verdicts, plain=False).endswith("; e2e: green, slow (1m30s)")


def test_flaky_gates_are_known_with_their_laps() -> None:
    run = Run(gate("tests"), gate("lint"), baseline=True)
    run.lap(tests=Verdict(status="fail", flaky=True), lint=PASS)
    run.lap(tests=red("a"), lint=PASS)
    run.lap(tests=Verdict(status="fail", flaky=True), lint=PASS)

    assert flakes(run.state) == {"tests": (0, 2)}


def test_a_gate_out_of_time_has_timed_out() -> None:
    finding = out_of_time(90)

    assert timed_out(Verdict(status="error", findings=(finding,)))
    assert not timed_out(Verdict(status="fail", findings=(finding,)))
    assert finding.message == "timed out after 1m30s"
