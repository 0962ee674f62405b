"""Verdicts that are known before a gate runs."""

import pytest

from tests.core.helpers import PASS, SKIP, Run, Turn, gate, red
from untilgreen.core.loop.step import CheckGates
from untilgreen.core.scoring.known_verdicts import known_verdict
from untilgreen.core.values.model import GateSpec, Promise, Verdict

DONE = Promise(text="DONE")


def known(run: Run, turn: Turn, spec: GateSpec) -> Verdict | None:
    """The verdict that is known after the turn without running the gate, or None."""
    run.until(CheckGates, turn)
    assert run.state.open is not None
    return known_verdict(run.state, run.state.open, spec)


def test_most_gates_have_to_run() -> None:
    assert known(Run(), Turn(), gate()) is None


def test_the_claim_is_clear_from_the_reply() -> None:
    claim = gate("claim", kind="claim")

    given = known(Run(promise=DONE), Turn(claim=True), claim)
    missing = known(Run(promise=DONE), Turn(), claim)

    assert given == PASS
    assert missing is not None
    assert missing.status == "fail"
    assert missing.findings[0].message == "the agent did not give the promise"


def test_a_claim_before_its_lap_fails_and_says_from_which_lap_on_it_is_heard() -> None:
    verdict = known(Run(promise=Promise(text="DONE", min=4)), Turn(claim=True), gate("claim", kind="claim"))

    assert verdict is not None
    assert verdict.status == "fail"
    assert verdict.findings[0].message == "the promise came in lap 1; it counts from lap 4 on"


def test_without_a_promise_in_the_plan_a_claim_gate_can_not_pass() -> None:
    verdict = known(Run(gate("claim", kind="claim")), Turn(claim=True), gate("claim", kind="claim"))

    assert verdict is not None
    assert verdict.status == "fail"


@pytest.mark.parametrize("kind", ["judge", "approval"])
def test_the_untouched_tree_is_shown_to_no_judge_and_no_person(kind: str) -> None:
    baseline = known(Run(baseline=True), Turn(), gate("people", kind=kind))

    assert baseline is not None
    assert baseline.status == "skip"
    assert known(Run(), Turn(), gate("people", kind=kind)) is None


def test_a_gate_for_claims_runs_only_when_there_is_one() -> None:
    slow = gate("slow", when="claimed")

    unclaimed = known(Run(promise=DONE), Turn(), slow)

    assert unclaimed is not None
    assert unclaimed.status == "skip"
    assert known(Run(promise=DONE), Turn(claim=True), slow) is None


def test_a_gate_for_changes_keeps_its_verdict_while_the_tree_stays() -> None:
    build = gate("build", when="changed")
    run = Run(gate("tests"), build)
    assert known(run, Turn(), build) is None
    run.lap(build=red("b"), tests=red("a"))

    assert known(run, Turn(tree="tree-1"), build) == run.last.verdicts["build"] != PASS


def test_a_gate_for_changes_runs_again_when_the_tree_is_another() -> None:
    build = gate("build", when="changed")
    run = Run(gate("tests"), build)
    run.lap(build=red("b"), tests=red("a"))

    assert known(run, Turn(tree="tree-2"), build) is None


def test_a_gate_for_changes_runs_when_it_has_never_run() -> None:
    build = gate("build", when="changed", stage=2)
    run = Run(gate("tests"), build)
    run.lap(tests=red("a"))

    assert known(run, Turn(tree="tree-1"), build) is None


def test_a_gate_for_changes_does_not_keep_that_it_was_skipped() -> None:
    build = gate("build", when="changed")
    run = Run(gate("tests"), build)
    run.lap(tests=red("a"), build=SKIP)

    assert known(run, Turn(tree="tree-1"), build) is None
