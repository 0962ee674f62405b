"""maven and surefire: tests, compiler errors, goals."""

import pytest

from untilgreen.gates.output.recognize import recognize
from untilgreen.gates.output.tool_result import ToolResult

RED = """\
[INFO] Scanning for projects...
[INFO] --- surefire:3.2.5:test (default-test) @ shop ---
[INFO] Running org.shop.TillTest
[ERROR] Tests run: 3, Failures: 1, Errors: 0, Skipped: 1, Time elapsed: {time} s <<< FAILURE! -- in TillTest
[ERROR] org.shop.TillTest.sums{how}Time elapsed: {time} s <<< FAILURE!
org.opentest4j.AssertionFailedError: expected: <3> but was: <2>
\tat org.shop.TillTest.sums(TillTest.java:42)

[INFO] Results:
[INFO]
[ERROR] Failures:
[ERROR]   TillTest.sums:42 expected: <3> but was: <2>
[INFO]
[ERROR] Tests run: 3, Failures: 1, Errors: 0, Skipped: 1
[INFO]
[INFO] BUILD FAILURE
[ERROR] Failed to execute goal org:surefire-plugin:3.2.5:test (default) on project shop: Tests failed.
"""
BROKEN = """\
[ERROR] COMPILATION ERROR :
[ERROR] /home/me/src/Till.java:[{line},64] cannot find symbol
  symbol:   method sum()
[INFO] 1 error
[INFO] BUILD FAILURE
[ERROR] Failed to execute goal org:compiler-plugin:3.12.1:compile (default) on project shop: It failed
[ERROR] /home/me/src/Till.java:[{line},64] cannot find symbol
"""


def read(text: str) -> ToolResult:
    seen = recognize(text)
    assert seen is not None
    assert seen.tool == "maven"
    return seen


def test_a_failing_test_is_known_by_its_class_and_name() -> None:
    seen = read(RED.format(time="0.1", how=" -- "))

    assert [(each.id, each.message) for each in seen.findings] == [
        ("org.shop.TillTest.sums", "org.opentest4j.AssertionFailedError: expected: <3> but was: <2>")
    ]
    assert (seen.passed, seen.failed, seen.skipped, seen.total) == (1, 1, 1, 3)
    assert seen.score == pytest.approx(0.5)


def test_times_and_the_spelling_of_surefire_change_no_id() -> None:
    assert read(RED.format(time="0.1", how=" -- ")).findings[0].id == (
        read(RED.format(time="2.5", how="  ")).findings[0].id
    )


def test_the_old_spelling_names_the_same_test() -> None:
    old = "[ERROR] sums(org.shop.TillTest)  Time elapsed: 0.1 s  <<< ERROR!\njava.lang.NullPointerException\n"

    assert read(old).findings[0].id == "org.shop.TillTest.sums"


def test_compiler_errors_are_reported_once_whatever_their_line() -> None:
    one, other = read(BROKEN.format(line=55)), read(BROKEN.format(line=60))

    assert [(each.id, each.line) for each in one.findings] == [
        ("/home/me/src/Till.java: cannot find symbol", 55)
    ]
    assert one.findings[0].id == other.findings[0].id


def test_a_goal_that_fails_for_another_reason_is_the_finding() -> None:
    seen = read(
        "[ERROR] Failed to execute goal a.b:enforcer:3.1:enforce (x) on project shop: Java 21 is needed"
    )

    assert [(each.id, each.message) for each in seen.findings] == [
        ("shop: a.b:enforcer:*:enforce", "Java 21 is needed")
    ]


def test_a_pattern_that_matches_no_test_means_no_tests() -> None:
    goal = "[ERROR] Failed to execute goal a:surefire:2.2:test (x) on project shop: No tests were executed!"

    assert read(f"[INFO] BUILD FAILURE\n{goal}").no_tests
