"""vitest's own output: rulers, failures, counts."""

from untilgreen.gates.output.recognize import recognize
from untilgreen.gates.output.tool_result import ToolResult

RED = """\
 RUN  v3.1.0 /home/me/shop

 \u276f till.test.ts (3 tests | 1 failed) {time}ms
 ✓ bell.test.ts (1 test) 2ms

⎯⎯⎯⎯⎯⎯ Failed Suites 1 ⎯⎯⎯⎯⎯⎯⎯

 FAIL  door.test.ts [ door.test.ts ]
Error: Cannot find module './lock'
 \u276f door.test.ts:1:1

⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯[1/2]⎯

⎯⎯⎯⎯⎯⎯⎯ Failed Tests 1 ⎯⎯⎯⎯⎯⎯⎯

 FAIL  till.test.ts > till > sums
AssertionError: expected 2 to be 3 // Object.is equality
 \u276f till.test.ts:{line}:61

 Test Files  2 failed | 1 passed (3)
      Tests  1 failed | 2 passed | 1 skipped (4)
   Duration  {time}ms
"""


def read(text: str) -> ToolResult:
    seen = recognize(text)
    assert seen is not None
    assert seen.tool == "vitest"
    return seen


def test_suites_and_tests_that_fail_are_findings() -> None:
    seen = read(RED.format(line=2, time=14))

    assert [(each.id, each.message, each.file) for each in seen.findings] == [
        ("door.test.ts", "Error: Cannot find module './lock'", "door.test.ts"),
        (
            "till.test.ts > till > sums",
            "AssertionError: expected 2 to be 3 // Object.is equality",
            "till.test.ts",
        ),
    ]
    assert (seen.passed, seen.failed, seen.skipped, seen.total) == (2, 2, 1, 5)


def test_lines_and_times_change_no_id() -> None:
    assert [each.id for each in read(RED.format(line=2, time=14)).findings] == [
        each.id for each in read(RED.format(line=8, time=90)).findings
    ]


def test_colors_change_nothing() -> None:
    colored = RED.replace(" FAIL ", "\x1b[41m\x1b[1m FAIL \x1b[22m\x1b[49m").replace(
        " > ", "\x1b[2m > \x1b[22m"
    )

    assert read(colored.format(line=2, time=14)) == read(RED.format(line=2, time=14))


def test_an_error_that_no_test_caught_is_a_finding() -> None:
    seen = read("⎯⎯⎯ Unhandled Rejection ⎯⎯⎯\nError: lost\n \u276f a.ts:3:1\n\n Test Files  1 passed (1)\n")

    assert [each.id for each in seen.findings] == ["Unhandled Rejection: Error: lost"]
