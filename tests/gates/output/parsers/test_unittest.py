"""unittest's output, from Python 3.10 to 3.13 and through Django."""

import pytest

from untilgreen.gates.output.recognize import recognize
from untilgreen.gates.output.tool_result import ToolResult

BAR, DASHES = "=" * 70, "-" * 70


def read(text: str) -> ToolResult:
    seen = recognize(text)
    assert seen is not None
    assert seen.tool == "unittest"
    return seen


def ids(text: str) -> list[str]:
    return [finding.id for finding in read(text).findings]


def block(header: str, said: str = "AssertionError: 1 != 2") -> str:
    return f"""{BAR}
{header}
{DASHES}
Traceback (most recent call last):
  File "/home/kim/shop/tests/test_till.py", line 8, in test_x
    self.assertEqual(add(1), 2)
  File "/usr/lib/python3.12/unittest/case.py", line 885, in assertEqual
    assertion_func(first, second, msg=msg)
{said}

"""


def end(ran: int, result: str) -> str:
    return f"{DASHES}\nRan {ran} test{'' if ran == 1 else 's'} in 0.002s\n\n{result}\n"


def test_a_failure_has_name_place_and_reason() -> None:
    (finding,) = read(block("FAIL: test_x (shop.Till.test_x)") + end(3, "FAILED (failures=1)")).findings

    assert (finding.id, finding.message) == ("shop.Till.test_x", "AssertionError: 1 != 2")
    assert (finding.file, finding.line) == ("/home/kim/shop/tests/test_till.py", 8)


@pytest.mark.parametrize(
    ("before", "since"),
    [
        ("FAIL: test_x (shop.Till)", "FAIL: test_x (shop.Till.test_x)"),
        ("FAIL: test_x (shop.Till) (i=1)", "FAIL: test_x (shop.Till.test_x) (i=1)"),
        ("FAIL: test_x (shop.Till) [odd] (i=1)", "FAIL: test_x (shop.Till.test_x) [odd] (i=1)"),
        (
            "ERROR: test_door (unittest.loader._FailedTest)",
            "ERROR: test_door (unittest.loader._FailedTest.test_door)",
        ),
        ("ERROR: setUpClass (shop.Till)", "ERROR: setUpClass (shop.Till)"),
        ("FAIL: test_x (t.f.<locals>.C)", "FAIL: test_x (t.f.<locals>.C.test_x)"),
    ],
)
def test_names_are_the_same_in_every_python(before: str, since: str) -> None:
    assert ids(block(before) + end(1, "FAILED (failures=1)")) == ids(
        block(since) + end(1, "FAILED (failures=1)")
    )


def test_each_subtest_is_a_finding_and_their_test_one_failure() -> None:
    text = "".join(block(f"FAIL: test_x (shop.Till.test_x) (i={i})") for i in range(3))
    seen = read(text + end(4, "FAILED (failures=3)"))

    assert [finding.id for finding in seen.findings] == [f"shop.Till.test_x (i={i})" for i in range(3)]
    assert (seen.passed, seen.failed, seen.total) == (3, 1, 4)


def test_a_docstring_is_not_part_of_the_name() -> None:
    text = block("ERROR: test_x (shop.Till.test_x)\nThe till opens.", "ValueError: a\nb") + end(
        1, "FAILED (errors=1)"
    )
    (finding,) = read(text).findings

    assert (finding.id, finding.message) == ("shop.Till.test_x", "ValueError: a")


def test_the_last_of_chained_errors_is_the_reason() -> None:
    said = """KeyError: 'drawer'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/home/kim/shop/till.py", line 3, in open
    raise Stuck
shop.Stuck: the drawer"""
    (finding,) = read(block("ERROR: test_x (shop.Till.test_x)", said) + end(1, "FAILED (errors=1)")).findings

    assert (finding.message, finding.line) == ("shop.Stuck: the drawer", 8)


def test_a_module_that_can_not_be_imported_says_why() -> None:
    text = f"""E
{BAR}
ERROR: test_door (unittest.loader._FailedTest.test_door)
{DASHES}
ImportError: Failed to import test module: test_door
Traceback (most recent call last):
  File "/usr/lib/python3.12/unittest/loader.py", line 394, in _find_test_path
    module = self._get_module_from_name(name)
ModuleNotFoundError: No module named 'hinge'


{end(1, "FAILED (errors=1)")}"""

    assert read(text).findings[0].message == "ModuleNotFoundError: No module named 'hinge'"


@pytest.mark.parametrize(
    ("ran", "result", "counts"),
    [
        (3, "OK", (3, 0, 0, 3)),
        (3, "OK (skipped=1, expected failures=1)", (1, 0, 2, 3)),
        (9, "FAILED (failures=1, errors=2, skipped=1)", (5, 3, 1, 9)),
        (2, "FAILED (unexpected successes=1)", (1, 1, 0, 2)),
    ],
)
def test_the_last_lines_count(ran: int, result: str, counts: tuple[int, int, int, int]) -> None:
    seen = read("...\n" + end(ran, result))

    assert (seen.passed, seen.failed, seen.skipped, seen.total) == counts


def test_an_unexpected_success_is_a_failure_with_a_name() -> None:
    header = f"u\n{BAR}\nUNEXPECTED SUCCESS: test_x (shop.Till.test_x)\n"
    seen = read(header + end(2, "FAILED (unexpected successes=1)"))

    assert [finding.id for finding in seen.findings] == ["shop.Till.test_x"]
    assert (seen.passed, seen.failed) == (1, 1)


def test_an_error_around_the_tests_counts_in_addition_to_them() -> None:
    seen = read(block("ERROR: setUpClass (shop.Till)", "RuntimeError: no") + end(2, "FAILED (errors=1)"))

    assert ([finding.id for finding in seen.findings], seen.passed, seen.total) == (
        ["shop.Till.setUpClass"],
        2,
        3,
    )


@pytest.mark.parametrize("result", ["OK", "NO TESTS RAN", ""])
def test_no_tests_are_seen(result: str) -> None:
    seen = read("\n" + end(0, result))

    assert (seen.no_tests, [finding.id for finding in seen.findings]) == (True, ["no-tests"])


@pytest.mark.parametrize("result", ["OK (skipped=1)", "FAILED (errors=1)"])
def test_skipped_and_broken_tests_are_tests(result: str) -> None:
    assert not read("\n" + end(0, result)).no_tests


def test_verbose_progress_names_what_a_crash_left_open() -> None:
    text = """test_a (shop.Till.test_a) ... ok
test_b (shop.Till.test_b) ... FAIL
test_c (shop.Till.test_c)
The drawer opens. ... ERROR
test_s (shop.Till.test_s) ...
  test_s (shop.Till.test_s) (i=0) ... FAIL
test_k (shop.Till.test_k) ... skipped 'later'
test_d (shop.Till.test_d) ... Fatal Python error: Aborted
"""
    seen = read(text)

    assert [finding.id for finding in seen.findings] == [
        "shop.Till.test_b",
        "shop.Till.test_c",
        "shop.Till.test_s (i=0)",
        "shop.Till.test_d",
    ]
    assert (seen.passed, seen.skipped) == (1, 1)


def test_output_of_django_around_the_tests_is_ignored() -> None:
    text = f"""Found 4 test(s).
Creating test database for alias 'default'...
System check identified no issues (0 silenced).
test_x (shop.tests.TillTests) ... FAIL
test_y (shop.tests.TillTests)
It opens. ... Testing against Django installed in '/usr/lib/django'
ok

{block("FAIL: test_x (shop.tests.TillTests)")}{end(4, "FAILED (failures=1)")}
Destroying test database for alias 'default'...
"""
    seen = read(text)

    assert [finding.id for finding in seen.findings] == ["shop.tests.TillTests.test_x"]
    assert (seen.passed, seen.failed, seen.total) == (3, 1, 4)


def test_several_runs_are_added_up() -> None:
    seen = read(end(3, "OK") + block("FAIL: test_x (a.B.test_x)") + end(2, "FAILED (failures=1)"))

    assert (seen.passed, seen.failed, seen.total) == (4, 1, 5)
