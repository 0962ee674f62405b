"""A gate's score is comparable between laps, however many tests each lap showed."""

import pytest

from tests.core.helpers import PASS, Run, continued, gate, red
from untilgreen.core.scoring.gate_scores import rate
from untilgreen.core.strategies.hybrid import Hybrid
from untilgreen.core.values.model import Finding, ToolCount, Verdict

ONE = (gate("tests"),)


def ran(
    passed: int, failed: int, *, tool: str = "tap", total: int = 0, findings: int | None = None
) -> Verdict:
    """A red verdict with a runner's counts; a crash is one finding and few passes."""
    count = ToolCount(tool=tool, passed=passed, failed=failed, total=total or passed + failed)
    named = tuple(Finding(id=f"t{number}") for number in range(failed if findings is None else findings))
    return Verdict(status="fail", score=passed / count.total, findings=named, tools=(count,))


def with_tools(*tools: ToolCount) -> Verdict:
    findings = tuple(Finding(id=f"{each.tool} {n}") for each in tools for n in range(each.failed))
    return Verdict(status="fail", findings=findings, tools=tools)


def jest(passed: int, failed: int) -> ToolCount:
    return ToolCount(tool="jest", passed=passed, failed=failed, total=passed + failed)


TSC = ToolCount(tool="tsc", failed=1)


@pytest.mark.parametrize(
    ("verdict", "score"),
    [
        (None, 0.0),
        (PASS, 1.0),
        (Verdict(status="pass", score=0.2), 1.0),
        (Verdict(status="fail", score=0.75), 0.75),
        (Verdict(status="fail", score=3.0), 0.999),
        (Verdict(status="fail", score=-1.0), 0.0),
        (Verdict(status="error", score=0.9), 0.0),
        (Verdict(status="skip", score=0.9), 0.0),
    ],
)
def test_a_gate_that_counts_nothing_scores_what_it_says_and_never_1_while_red(
    verdict: Verdict | None, score: float
) -> None:
    assert rate("tests", verdict, {}).score == score


def test_a_runner_that_crashes_after_47_good_tests_is_not_the_best_lap() -> None:
    run = Run(*ONE, baseline=True)
    run.lap(tests=ran(47, 1))

    run.lap(tests=ran(78, 1))

    assert run.state.best is not None
    assert (run.state.best.lap, run.last.improved) == (1, True)
    assert run.state.baseline is not None
    assert run.state.baseline.score == pytest.approx(47 / 79)


@pytest.mark.parametrize("crash", [red("crash"), ran(47, 1)], ids=["no tests", "47 good tests"])
def test_fewer_failures_each_lap_are_progress_even_after_a_crash_with_one_finding(crash: Verdict) -> None:
    run = Run(*ONE, baseline=True)
    run.lap(tests=crash)

    for failed in (12, 11, 10, 9, 8, 7):
        run.lap(tests=ran(79 - failed, failed))
        assert run.last.improved, failed
        assert run.last.since_best == 0


def test_a_crash_or_a_compile_error_is_no_progress_though_it_has_fewer_findings() -> None:
    run = Run(*ONE)
    run.lap(tests=ran(70, 9))

    run.lap(tests=red("a.c: error: expected ;"))
    assert (run.last.improved, run.last.score, run.last.failures) == (False, 0.0, 79)

    run.lap(tests=ran(3, 1))
    assert not run.last.improved
    assert run.last.score == pytest.approx(3 / 79)
    assert run.state.best is not None
    assert run.state.best.lap == 1


def test_a_suite_that_vanished_scores_what_is_left_of_it() -> None:
    run = Run(*ONE)
    run.lap(tests=ran(300, 28))
    run.lap(tests=ran(9, 1))

    assert run.last.score == pytest.approx(9 / 328)


def test_green_tests_with_a_type_error_beat_red_tests_that_hid_it() -> None:
    run = Run(*ONE)
    run.lap(tests=with_tools(jest(18, 2)))

    run.lap(tests=with_tools(jest(20, 0), TSC))

    assert run.last.improved
    assert run.state.best is not None
    assert run.state.best.lap == 2


def test_a_type_error_that_hides_the_tests_is_worse_than_red_tests() -> None:
    run = Run(*ONE)
    run.lap(tests=with_tools(jest(18, 2)))

    run.lap(tests=with_tools(TSC))

    assert not run.last.improved
    assert run.state.best is not None
    assert run.state.best.lap == 1
    assert run.state.laps[0].score == pytest.approx(0.95)
    assert run.last.score == pytest.approx(0.45)  # the tests count as before


def test_tests_that_all_pass_in_a_red_gate_do_not_score_1() -> None:
    run = Run(*ONE)
    run.lap(tests=ran(5, 0, findings=1))

    assert run.last.score < 1


def test_a_run_that_never_beats_the_untouched_files_keeps_them() -> None:
    run = Run(*ONE, baseline=True)
    run.lap(tests=red("a"))
    run.lap(tests=red("a"))
    run.lap(tests=red("b"))

    assert run.state.best is not None
    assert run.state.best.lap == 0


def test_where_nothing_judges_the_work_the_last_lap_is_kept() -> None:
    run = Run(gate("claim", kind="claim"))
    run.lap()
    run.lap()

    assert run.state.best is not None
    assert run.state.best.lap == 2


def test_a_part_that_was_not_reached_counts_as_in_the_last_lap_that_reached_it() -> None:
    run = Run(*ONE)
    run.lap(tests=with_tools(TSC))
    run.lap(tests=with_tools(jest(18, 2)))
    run.lap(tests=with_tools(TSC))
    run.lap(tests=with_tools(TSC))

    scores = [lap.score for lap in run.state.laps]
    assert scores == [0.0, pytest.approx(0.95), pytest.approx(0.45), pytest.approx(0.45)]


def test_the_best_lap_has_the_rank_of_its_lap() -> None:
    run = Run(*ONE)
    run.lap(tests=ran(7, 3))
    run.lap(tests=ran(8, 2))

    assert run.state.best is not None
    assert run.state.best.rank == run.last.rank > run.state.laps[0].rank


def printed(text: str) -> Verdict:
    """A red verdict whose output no parser recognizes."""
    return Verdict(status="fail", excerpt=text)


def test_a_linter_that_crashes_is_not_better_than_its_nine_findings() -> None:
    run = Run(*ONE, baseline=True)
    run.lap(tests=with_tools(ToolCount(tool="ruff", failed=9)))
    run.lap(tests=with_tools(ToolCount(tool="ruff", failed=8)))

    run.lap(tests=printed("error: Failed to parse pyproject.toml"))

    assert run.state.best is not None
    assert (run.state.best.lap, run.last.improved) == (1, False)


def test_a_number_of_errors_that_falls_is_progress_to_the_last_one() -> None:
    run = Run(*ONE, baseline=True)
    for text in ("3 errors are left in it", "2 errors are left in it", "1 error is left in it"):
        run.lap(tests=printed(text))

    assert [lap.improved for lap in run.state.laps] == [True, True]
    assert run.state.best is not None
    assert (run.state.best.lap, run.state.best.failures) == (2, 1)


def test_a_number_of_errors_that_falls_earns_a_bonus_lap() -> None:
    run = Run(*ONE, strategy=Hybrid(base=2, bonus=1))
    run.lap(tests=printed("9 errors left"))
    run.lap(tests=printed("8 errors left"))

    assert "bonus lap 1 of 1 earned" in continued(run.decided).reason


def test_the_lap_with_the_smallest_number_of_errors_stays_the_best() -> None:
    run = Run(*ONE, baseline=True)
    for text in ("9 errors left", "4 errors left", "6 errors left", "no such file", ""):
        run.lap(tests=printed(text))

    assert run.state.best is not None
    assert run.state.best.lap == 1
    assert [lap.failures for lap in run.state.baseline_and_laps] == [9, 4, 6, 9, 9]


def test_numbers_of_different_things_are_not_compared() -> None:
    run = Run(*ONE, baseline=True)
    for text in ("9 errors in the parser", "4 problems with the build", "3 errors, 5 warnings of the rest"):
        run.lap(tests=printed(text))

    assert [lap.failures for lap in run.state.baseline_and_laps] == [1, 1, 1]
    assert not any(lap.improved for lap in run.state.laps)
