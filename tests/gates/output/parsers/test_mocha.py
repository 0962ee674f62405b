"""mocha's own output: counts, and titles indented below those of their suites."""

import pytest

from untilgreen.gates.output.recognize import recognize
from untilgreen.gates.output.tool_result import ToolResult

RED = """\
  till
    ✔ opens
    - rings
    inner
      1) sums

  2 passing ({time}ms)
  1 pending
  2 failing

  1) till
       inner
         sums:

      AssertionError [ERR_ASSERTION]: 2 == 3
      + expected - actual

      at Context.<anonymous> (test/a.js:{line}:78)

  2) shuts:
     Error: stuck
      at Context.<anonymous> (test/a.js:9:31)
"""
CRASH = """\
 Exception during run: Error: Cannot find module './gone'
Require stack:
- test/z.js
    at Module._resolveFilename (node:internal/modules/cjs/loader:1207:15)
    at Object.<anonymous> (test/z.js:1:1)
    at async formattedImport (/opt/node_modules/mocha/lib/nodejs/esm-utils.cjs:11:14)
"""


def read(text: str) -> ToolResult:
    seen = recognize(text)
    assert seen is not None
    assert seen.tool == "mocha"
    return seen


def test_a_failure_has_the_titles_of_its_suites() -> None:
    seen = read(RED.format(line=2, time=7))

    assert [(each.id, each.message.partition("\n")[0]) for each in seen.findings] == [
        ("till > inner > sums", "AssertionError [ERR_ASSERTION]: 2 == 3"),
        ("shuts", "Error: stuck"),
    ]
    assert (seen.passed, seen.failed, seen.skipped, seen.total) == (2, 2, 1, 5)
    assert seen.score == pytest.approx(0.5)


def test_lines_and_times_change_no_id() -> None:
    assert [each.id for each in read(RED.format(line=2, time=7)).findings] == [
        each.id for each in read(RED.format(line=5, time=70)).findings
    ]


def test_tests_that_could_not_be_loaded_are_a_finding_about_their_file() -> None:
    seen = read(CRASH)

    assert [(each.file, each.line) for each in seen.findings] == [("test/z.js", 1)]
    assert "cannot find module" in seen.findings[0].id
    assert seen.score == 0.0


def test_a_stack_that_does_not_go_through_mocha_is_not_mochas() -> None:
    assert recognize(CRASH.replace("mocha", "other")) is None


def test_no_files_mean_no_tests() -> None:
    assert read('Error: No test files found: "nowhere"').no_tests
