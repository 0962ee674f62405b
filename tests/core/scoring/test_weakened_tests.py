"""The reason reported for a run that failed only because its tests were changed."""

from tests.core.endings import WEAKENED, weakened
from tests.core.helpers import Run, gate, red
from untilgreen.core.scoring.weakened_tests import ending_reason, weakened_tests
from untilgreen.core.values.limits import Limits
from untilgreen.core.values.model import INTEGRITY_GATE, Verdict


def test_the_files_are_named_before_the_limit_that_was_hit() -> None:
    state = weakened().state

    assert weakened_tests(state) == ("tests/test_a.py",)
    assert ending_reason(state) == f"tests were weakened: tests/test_a.py ({state.reason})"


def test_a_run_whose_other_gates_fail_too_did_not_end_because_of_its_tests() -> None:
    run = Run(gate("tests"), gate("integrity", kind=INTEGRITY_GATE), limits=Limits(iterations=1))
    run.lap(tests=red("a"), integrity=WEAKENED)
    run.end()

    assert weakened_tests(run.state) == ()
    assert ending_reason(run.state) == run.state.reason


def test_a_guard_that_broke_has_seen_no_change() -> None:
    run = Run(gate("tests"), gate("integrity", kind=INTEGRITY_GATE), limits=Limits(iterations=1))
    run.lap(tests=red("a"), integrity=Verdict(status="error"))
    run.end()

    assert weakened_tests(run.state) == ()


def test_a_run_that_is_under_way_has_no_end_to_explain() -> None:
    run = Run(gate("tests"))
    run.offer()

    assert weakened_tests(run.state) == ()
    assert ending_reason(run.state) == ""
