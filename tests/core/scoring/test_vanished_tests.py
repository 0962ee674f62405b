"""A pass with far fewer tests than before is not believed: it is reported, or asked about."""

import pytest

from tests.core.helpers import Run, Turn, gate, red
from untilgreen.core.scoring.vanished_tests import doubt_skipped_tests, doubt_vanished_tests
from untilgreen.core.values.model import Finding, ToolCount, Verdict


def counted(status: str, tool: str, total: int, failed: int = 0) -> Verdict:
    count = ToolCount(tool=tool, passed=total - failed, failed=failed, total=total)
    findings = tuple(Finding(id=f"t{number}") for number in range(failed))
    return Verdict(status="fail" if status == "fail" else "pass", findings=findings, tools=(count,))


def after_a_red_lap(**options: object) -> Run:
    run = Run(gate("tests", options=options))
    run.lap(tests=counted("fail", "pytest", 328, 2))
    return run


@pytest.mark.parametrize(
    ("verdict", "status"),
    [
        (Verdict(status="pass"), "fail"),
        (counted("pass", "pytest", 3), "fail"),
        (counted("pass", "pytest", 164), "fail"),
        (counted("pass", "pytest", 165), "pass"),
        (counted("pass", "pytest", 328), "pass"),
        (counted("pass", "junit", 328), "pass"),
    ],
    ids=["no output", "three tests", "half", "more than half", "all", "all, as a report"],
)
def test_a_pass_must_show_most_of_the_tests_that_were_there(verdict: Verdict, status: str) -> None:
    run = after_a_red_lap()

    assert doubt_vanished_tests(run.state.tools["tests"], gate("tests"), verdict).status == status


def test_the_finding_says_what_is_missing_and_what_to_do() -> None:
    (finding,) = doubt_vanished_tests(
        after_a_red_lap().state.tools["tests"], gate("tests"), counted("pass", "pytest", 3)
    ).findings

    assert finding.message == (
        "exit code 0, but 3 tests, where pytest reported 328 tests before. "
        'Restore the tests, or set believe = "exit-code" on the gate if fewer are expected.'
    )


def test_the_exit_code_is_believed_where_the_spec_says_so() -> None:
    trusting = gate("tests", options={"believe": "exit-code"})

    assert (
        doubt_vanished_tests(after_a_red_lap().state.tools["tests"], trusting, Verdict(status="pass")).status
        == "pass"
    )


def test_a_gate_that_never_counted_is_not_compared() -> None:
    run = Run(gate("tests"))
    run.lap(tests=red("a"))

    assert (
        doubt_vanished_tests(run.state.tools.get("tests", {}), gate("tests"), Verdict(status="pass")).status
        == "pass"
    )


@pytest.mark.parametrize(
    ("verdict", "status"),
    [
        (Verdict(status="pass"), "fail"),
        (counted("pass", "ruff", 0), "fail"),
        (counted("pass", "jest", 1), "pass"),
        (Verdict(status="pass", tools=(ToolCount(tool="jest", uncounted=True),)), "pass"),
    ],
    ids=["no output", "only a linter", "fewer", "a tool that counts only failures"],
)
def test_of_a_tiny_suite_some_test_must_be_shown(verdict: Verdict, status: str) -> None:
    run = Run(gate("tests"))
    run.lap(tests=counted("fail", "jest", 3, 1))

    assert doubt_vanished_tests(run.state.tools["tests"], gate("tests"), verdict).status == status


def test_a_linter_that_says_nothing_any_more_is_not_missed() -> None:
    run = Run(gate("tests"))
    run.lap(
        tests=Verdict(status="fail", findings=(Finding(id="a"),), tools=(ToolCount(tool="ruff", failed=1),))
    )

    assert (
        doubt_vanished_tests(run.state.tools["tests"], gate("tests"), Verdict(status="pass")).status == "pass"
    )


def test_a_person_is_asked_where_somebody_answers() -> None:
    run = Run(gate("tests"), answers=True)
    run.lap(tests=counted("fail", "pytest", 328, 2))

    run.lap(
        Turn(), tests=doubt_vanished_tests(run.state.tools["tests"], gate("tests"), Verdict(status="pass"))
    )

    assert "tests is not believed (exit code 0, but no output from it, where pytest" in run.asked.question
    assert run.asked.reason == "a gate passed with far fewer tests than before"


def test_the_run_continues_where_nobody_answers() -> None:
    run = after_a_red_lap()

    run.lap(tests=doubt_vanished_tests(run.state.tools["tests"], gate("tests"), Verdict(status="pass")))

    assert (run.state.outcome, run.last.green) == (None, False)


def ran(total: int, skipped: int, *, failed: int = 0, uncounted: bool = False) -> Verdict:
    count = ToolCount(tool="pytest", total=total, skipped=skipped, failed=failed, uncounted=uncounted)
    return Verdict(status="fail" if failed else "pass", tools=(count,))


@pytest.mark.parametrize(
    ("before", "now", "status"),
    [
        (ran(2, 0, failed=1), ran(1, 1), "fail"),
        (ran(2, 1, failed=1), ran(2, 1), "pass"),
        (ran(1, 0, failed=1), ran(3, 1), "pass"),
        (ran(2, 0, failed=1, uncounted=True), ran(1, 1), "pass"),
        (None, ran(1, 1), "pass"),
        (ran(2, 0, failed=1), ran(2, 0, failed=1), "fail"),
    ],
    ids=["skipped now", "as before", "not loaded before", "not counted before", "no baseline", "red anyway"],
)
def test_the_same_tests_are_not_skipped_that_ran_before(
    before: Verdict | None, now: Verdict, status: str
) -> None:
    verdict = doubt_skipped_tests(before, gate("tests"), now)

    assert verdict.status == status
    assert bool(verdict.findings) is (now.status == "pass" != status)


def test_tests_may_be_skipped_where_the_spec_says_so() -> None:
    spec = gate("tests", options={"run": "pytest", "allow_skipped": True})

    assert doubt_skipped_tests(ran(2, 0, failed=1), spec, ran(1, 1)).status == "pass"
