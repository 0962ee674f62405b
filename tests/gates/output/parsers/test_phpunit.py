"""PHPUnit: sections of numbered tests, and counts."""

from untilgreen.gates.output.recognize import recognize
from untilgreen.gates.output.tool_result import ToolResult

RED = """\
PHPUnit 11.2.0 by Sebastian Bergmann and contributors.

Runtime:       PHP 8.3.0

.FES                                                                4 / 4 (100%)

Time: 00:00.00{line}, Memory: 8.00 MB

There was 1 error:

1) TillTest::testOpens
Error: Call to undefined method Till::open()

/home/me/tests/TillTest.php:{line}

--

There was 1 failure:

1) TillTest::testSums with data set "two" ({line}, 2)
Failed asserting that 2 matches expected 3.

/home/me/tests/TillTest.php:20

--

There was 1 skipped test:

1) TillTest::testRings
no bell

ERRORS!
Tests: 4, Assertions: 2, Errors: 1, Failures: 1, Skipped: 1.
"""


def read(text: str) -> ToolResult:
    seen = recognize(text)
    assert seen is not None
    assert seen.tool == "phpunit"
    return seen


def test_errors_and_failures_are_findings_and_skipped_tests_are_not() -> None:
    seen = read(RED.format(line=8))

    assert [(each.id, each.message, each.line) for each in seen.findings] == [
        ("TillTest::testOpens", "Error: Call to undefined method Till::open()", 8),
        ('TillTest::testSums with data set "two"', "Failed asserting that 2 matches expected 3.", 20),
    ]
    assert (seen.passed, seen.failed, seen.skipped, seen.total) == (1, 2, 1, 4)


def test_lines_times_and_data_change_no_id() -> None:
    assert [each.id for each in read(RED.format(line=8)).findings] == [
        each.id for each in read(RED.format(line=9)).findings
    ]


def test_green_tests_are_counted() -> None:
    seen = read("PHPUnit 11.2.0 by Sebastian Bergmann and contributors.\n\nOK (3 tests, 9 assertions)\n")

    assert (seen.findings, seen.passed, seen.score) == ((), 3, 1.0)
