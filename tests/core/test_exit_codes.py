"""The exit code with which a process that drove a run says how the run went."""

import pytest

from tests.core.helpers import BROKEN, PASS, TIMED_OUT, Run, Turn, gate, red
from untilgreen.core.exit_codes import MEANINGS, exit_code
from untilgreen.core.loop.receive import Pause
from untilgreen.core.strategies.manual import Manual
from untilgreen.core.values.events import Interrupted, RunFinished
from untilgreen.core.values.limits import Limits
from untilgreen.core.values.model import Outcome, Reply


@pytest.mark.parametrize(
    ("outcome", "code"),
    [
        (Outcome.CONVERGED, 0),
        (Outcome.ACCEPTED, 0),
        (Outcome.CLAIMED, 0),
        (Outcome.EXHAUSTED, 3),
        (Outcome.STUCK, 1),
        (Outcome.BLOCKED, 1),
        (Outcome.CANCELLED, 1),
        (Outcome.CRASHED, 70),
    ],
)
def test_every_outcome_has_its_code(outcome: Outcome, code: int) -> None:
    run = Run()
    run.record(RunFinished(at=9.0, outcome=outcome, reason="because"))

    assert exit_code(run.state) == code
    assert code in MEANINGS


def test_no_outcome_is_without_a_code() -> None:
    for outcome in Outcome:
        run = Run()
        run.record(RunFinished(at=9.0, outcome=outcome, reason="because"))
        assert exit_code(run.state) in MEANINGS


def test_a_green_baseline_is_a_success() -> None:
    run = Run(baseline=True)
    run.lap(tests=PASS)

    assert exit_code(run.end()) == 0


def test_a_limit_that_ends_a_run_has_another_code_than_being_stuck() -> None:
    run = Run(limits=Limits(iterations=1))
    run.lap(tests=red("a"))

    assert exit_code(run.end()) == 3


def test_a_gate_that_could_not_run_has_another_code_than_one_that_failed() -> None:
    broken, failed = Run(baseline=True), Run(gate(on_fail="stop"), baseline=True)
    broken.lap(tests=BROKEN)
    failed.lap(tests=red("a"))

    assert exit_code(broken.end()) == 6
    assert exit_code(failed.end()) == 1


def test_a_gate_that_must_not_fail_and_ran_out_of_time_could_run() -> None:
    run = Run(gate(on_fail="stop"))
    run.lap(tests=TIMED_OUT)

    assert exit_code(run.end()) == 1


@pytest.mark.parametrize(
    ("signal", "code"), [("SIGINT", 130), ("SIGTERM", 143), ("SIGHUP", 129), ("other", 143)]
)
def test_a_run_that_was_left_says_by_which_signal(signal: str, code: int) -> None:
    run = Run()
    run.record(Interrupted(at=9.0, signal=signal))

    assert exit_code(run.state) == code


def test_an_agent_that_can_not_be_used_has_its_code() -> None:
    run = Run()
    run.lap(Turn(reply=Reply(error="auth")))

    assert exit_code(run.state) == 4


def test_a_run_that_waits_for_a_person_has_its_code() -> None:
    asked, paused = Run(strategy=Manual()), Run()
    asked.lap(tests=red("a"))
    paused.arrive(Pause(at=0.0))

    assert exit_code(asked.state) == exit_code(paused.state) == 5


def test_an_optional_gate_that_is_broken_is_not_why_a_run_was_blocked() -> None:
    run = Run(gate("secrets", on_fail="stop"), gate("style", required=False))
    run.lap(secrets=red("key"), style=BROKEN)

    assert exit_code(run.end()) == 1
