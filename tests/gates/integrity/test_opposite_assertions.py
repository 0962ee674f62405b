"""Reversed assertions fail on code that does what the tests ask; tests that stay green are named."""

import subprocess
import sys
from pathlib import Path

import pytest

from untilgreen.core.values.model import Finding, ToolCount, Verdict
from untilgreen.gates.integrity.opposite_assertions import Asked, asked_in, with_opposites
from untilgreen.gates.integrity.unasked_tests import all_red, unasked

ASSERTIONS = (
    "assert a == 3",
    "assert a > 2, 'ä' + str(a)",
    "assert (\n            a ==\n            1 + 2\n        )",
    "self.assertEqual(a, 3)",
    "self.assertEqual(a, 1 + 2)",
    "self.assertTrue(a)",
    "self.assertIn(a, (3, 4))",
    "self.assertIsNone(None)",
)


@pytest.mark.parametrize("assertion", ASSERTIONS)
def test_every_assertion_is_reversed(assertion: str, tmp_path: Path) -> None:
    text = (
        "import unittest\n\nclass Adding(unittest.TestCase):\n    def test_a(self):\n"
        f"        a = 3\n        {assertion}\n"
    )
    command = [sys.executable, "-m", "unittest", "test_a.Adding"]
    (tmp_path / "test_a.py").write_text(text)
    assert subprocess.run(command, cwd=tmp_path, capture_output=True, check=False).returncode == 0

    (tmp_path / "test_a.py").write_text(with_opposites("test_a.py", text))
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    assert "AssertionError" in done.stderr


def test_a_test_gets_one_more_that_must_fail_and_a_helper_does_not() -> None:
    assert "test_must_fail" in with_opposites("test_a.py", "def test_a():\n    pass\n")
    assert (
        with_opposites("helper.py", "def check(a):\n    assert a\n") == "def check(a):\n    assert not (a)\n"
    )
    assert with_opposites("helper.py", "def check(a):\n    return a\n") == ""
    assert with_opposites("test_a.py", "def test_a(:\n    assert 1\n") == ""


def test_a_test_surely_asserts_if_its_assertion_is_not_conditional() -> None:
    text = (
        "def test_a():\n    a = 1\n    assert a\n"
        "def test_b():\n    if a:\n        assert a\n"
        "def test_c():\n    if a:\n        return\n    assert a\n"
        "class A:\n    def test_d(self):\n        self.assertTrue(a)\n"
        "class B:\n    def test_d(self):\n        pass\n"
    )

    assert asked_in(text) == Asked(frozenset({"test_a"}), frozenset({"test_b", "test_c"}))


@pytest.mark.parametrize(
    ("loop", "perhaps"), [("range(3)", False), ("CASES", False), ("found()", True), ("a.items()", True)]
)
def test_a_loop_over_what_the_code_returns_may_reach_no_assertion(loop: str, perhaps: bool) -> None:
    text = f"def test_a():\n    for each in {loop}:\n        assert each\n"

    assert asked_in(text) == Asked(frozenset(), frozenset({"test_a"} if perhaps else ()))


def test_what_prepares_tests_stays_as_it_is() -> None:
    text = (
        "class A(TestCase):\n    def setUp(self):\n        self.assertTrue(1)\n"
        "@pytest.fixture\ndef data():\n    assert 1\n"
        "assert 1\n"
    )

    assert with_opposites("helper.py", text) == ""


def red(*names: str, passed: int = 0, unreached: int = 0) -> Verdict:
    total = len(names) + passed + unreached
    count = ToolCount(tool="pytest", passed=passed, failed=len(names), total=total)
    return Verdict(status="fail", findings=tuple(Finding(id=name) for name in names), tools=(count,))


GREEN = Verdict(status="pass", tools=(ToolCount(tool="pytest", passed=2, total=2),))
TEXT = "def test_a():\n    assert a\n"


def test_a_test_that_is_red_on_the_untouched_tree_has_to_be_red() -> None:
    control, before = red("t.py::test_a", "t.py::test_b"), red("t.py::test_b")

    assert unasked(red("t.py::test_b", passed=1), control, before, [], loaded=True) == ["t.py::test_a"]
    assert unasked(red("t.py::test_a", passed=1), control, before, [], loaded=True) == []
    assert unasked(GREEN, control, before, [], loaded=True) == ["t.py::test_a"]
    assert unasked(GREEN, control, before, ["def test_a():\n    if a: assert a\n"], loaded=True) == []


def test_one_that_failed_before_counts_only_if_it_certainly_asserts() -> None:
    control, before = red("t.py::test_a[1]"), red("t.py::test_a[1]")
    now = red("t.py::test_c", passed=1)

    assert unasked(now, control, before, [TEXT], loaded=True) == ["t.py::test_a[1]"]
    assert unasked(now, control, before, [], loaded=True) == []


def test_a_run_that_stopped_early_says_nothing_about_the_others() -> None:
    control, before = red("t.py::test_a", "t.py::test_b"), red("t.py::test_b")

    assert unasked(red("t.py::test_b", unreached=1), control, before, [], loaded=True) == []


def test_where_nothing_could_be_loaded_before_no_file_is_green_as_a_whole() -> None:
    before = red("t.py")
    skipped = Verdict(status="pass", tools=(ToolCount(tool="pytest", passed=1, total=1, skipped=1),))

    assert unasked(GREEN, before, before, [TEXT], loaded=True) == ["t.py"]
    assert unasked(GREEN, before, before, [TEXT], loaded=False) == []
    assert unasked(skipped, before, before, [TEXT], loaded=True) == []


def test_nothing_is_compared_where_everything_is_red() -> None:
    assert all_red(red("a", "b"))
    assert not all_red(red("a", passed=1))
    assert not all_red(GREEN)
