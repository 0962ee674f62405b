"""jest's own output: files, bullets, counts."""

from untilgreen.gates.output.recognize import recognize
from untilgreen.gates.output.tool_result import ToolResult

RED = """\
FAIL ./till.test.js (5.2 s)
  ● Console

    console.log
      counting

  ● till › sums

    expect(received).toBe(expected) // Object.is equality

    Expected: 3
    Received: 2

      at Object.toBe (till.test.js:{line}:61)

FAIL src/door.test.tsx
  ● Test suite failed to run

    Cannot find module './lock' from 'src/door.test.tsx'

PASS src/bell.test.ts

Test Suites: 2 failed, 1 passed, 3 total
Tests:       1 failed, 1 skipped, 1 todo, 4 passed, 7 total
Time:        {time} s
"""


def read(text: str) -> ToolResult:
    seen = recognize(text)
    assert seen is not None
    assert seen.tool == "jest"
    return seen


def test_a_failure_is_known_by_its_file_and_its_titles() -> None:
    seen = read(RED.format(line=3, time=1.5))

    assert [(each.id, each.message.partition("\n")[0], each.file) for each in seen.findings] == [
        (
            "till.test.js: till › sums",
            "expect(received).toBe(expected) // Object.is equality",
            "till.test.js",
        ),
        (
            "src/door.test.tsx: Test suite failed to run",
            "Cannot find module './lock' from 'src/door.test.tsx'",
            "src/door.test.tsx",
        ),
    ]


def test_a_file_that_does_not_load_counts_as_one_failure_more() -> None:
    seen = read(RED.format(line=3, time=1.5))

    assert (seen.passed, seen.failed, seen.skipped, seen.total) == (4, 2, 2, 8)


def test_lines_and_times_change_no_id() -> None:
    one, other = (read(RED.format(line=line, time=time)) for line, time in ((3, 1.5), (9, 2.25)))

    assert [each.id for each in one.findings] == [each.id for each in other.findings]


def test_the_list_of_all_failures_at_the_end_adds_none() -> None:
    text = RED.format(line=3, time=1)
    again = text.replace(
        "Test Suites:", "Summary of all failing tests\n" + text[: text.index("PASS")] + "Test Suites:"
    )

    assert len(read(again).findings) == 2


def test_marks_are_counted_where_the_counts_were_cut_off() -> None:
    seen = read("FAIL a.test.js\n  ✓ opens (3 ms)\n  ✕ shuts\n  ○ skipped rings\n\n  ● shuts\n\n    no\n")

    assert (seen.passed, seen.failed, seen.skipped) == (1, 1, 1)


def test_green_tests_without_the_counts_at_the_end_did_not_finish() -> None:
    """Something ended the process, with exit code 0 or not, and the other files never ran."""
    seen = read("PASS a.test.js\n  ✓ opens (3 ms)\n  ✓ shuts\n\nPASS b.test.js\n  ✓ rings\n")

    assert [(each.id, each.message) for each in seen.findings] == [
        ("unfinished", "It ended after 3 tests, before its summary.")
    ]
    assert (seen.passed, seen.failed) == (3, 1)


def test_green_tests_are_not_a_finding() -> None:
    seen = read("PASS a.test.js\n\nTest Suites: 1 passed, 1 total\nTests:       3 passed, 3 total\n")

    assert (seen.findings, seen.score) == ((), 1.0)
