"""Ids stay the same as long as the finding does."""

import pytest

from untilgreen.core.values.model import Finding
from untilgreen.gates.output.tool_result import MOST_FINDINGS, ToolResult, distinct, first_lines, stable_name


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("t.py::test_x[<A object at 0x7f82657594d0>]", "t.py::test_x[<A object at 0x7f1111111111>]"),
        ("Suite::opens #<Pool:0x00007f0a1b2c3d4e>", "Suite::opens #<Pool:0x00007f0a99999999>"),
        ("pkg.Case::reads Thing@1b2c3d4e", "pkg.Case::reads Thing@99aa88bb"),
        ("t.py::test_x[/tmp/tmpab12/file.txt]", "t.py::test_x[/tmp/tmpzz99/file.txt]"),
        ("t.py::test_x[/private/var/folders/1/a/T]", "t.py::test_x[/private/var/folders/2/b/T]"),
        ("Suite::is quick (0.12s)", "Suite::is quick (13 ms)"),
    ],
)
def test_what_changes_from_run_to_run_is_not_part_of_an_id(one: str, other: str) -> None:
    assert stable_name(one) == stable_name(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("t.py::test_x[0xdeadbeef]", "t.py::test_x[0xcafebabe]"),
        ("t.py::test_x[/tmp/a/one.txt]", "t.py::test_x[/tmp/a/two.txt]"),
        ("t.py::test_x[(5s)]", "t.py::test_x[(6s)]"),
        ("t.py::test_x[1]", "t.py::test_x[2]"),
    ],
)
def test_parameters_keep_tests_apart(one: str, other: str) -> None:
    assert stable_name(one) != stable_name(other)


def test_a_score_is_what_passed_of_what_could_have_passed() -> None:
    assert ToolResult(tool="x", passed=3, failed=1, skipped=6, total=10).score == 0.75


def test_a_score_without_tests_is_nothing() -> None:
    assert ToolResult(tool="x", skipped=2, total=2).score == 0.0


def test_one_finding_is_kept_for_each_id_and_none_without_an_id() -> None:
    findings = [Finding(id="a", message="1"), Finding(id=""), Finding(id="a", message="2"), Finding(id="b")]

    assert [(finding.id, finding.message) for finding in distinct(findings)] == [("a", "1"), ("b", "")]


def test_findings_end_at_a_number_that_nobody_reads() -> None:
    assert len(distinct(Finding(id=str(number)) for number in range(MOST_FINDINGS + 5))) == MOST_FINDINGS


def test_the_gist_is_the_first_lines_that_say_something() -> None:
    assert first_lines("\n\none  \n\ntwo\n3\n4\n5\n6\n") == "one\ntwo\n3\n4\n5"
