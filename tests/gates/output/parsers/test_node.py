"""node's own test runner, with its spec and dot reporters."""

from untilgreen.gates.output.recognize import recognize
from untilgreen.gates.output.tool_result import ToolResult

RED = """\
▶ till
  ▶ inner
    ✖ sums ({time}ms)
      AssertionError [ERR_ASSERTION]: 2 == 3
          at TestContext.<anonymous> (till.test.js:2:78)

  ✖ inner (7.3ms)
  ✔ opens (0.1ms)
  ﹣ rings (0.2ms) # SKIP
✖ till (9.0ms)
✖ shuts (0.1ms)
  Error: stuck

\u2139 tests 4
\u2139 suites 2
\u2139 pass 1
\u2139 fail 2
\u2139 cancelled 0
\u2139 skipped 1
\u2139 todo 0
\u2139 duration_ms 574.4

✖ failing tests:

test at till.test.js:2:52
✖ sums ({time}ms)
  AssertionError [ERR_ASSERTION]: 2 == 3
"""


def read(text: str) -> ToolResult:
    seen = recognize(text)
    assert seen is not None
    assert seen.tool == "node"
    return seen


def test_a_failure_has_the_names_of_its_suites_and_suites_are_not_failures() -> None:
    seen = read(RED.format(time=6.5))

    assert [(each.id, each.message) for each in seen.findings] == [
        ("till > inner > sums", "AssertionError [ERR_ASSERTION]: 2 == 3"),
        ("shuts", "Error: stuck"),
    ]
    assert (seen.passed, seen.failed, seen.skipped, seen.total) == (1, 2, 1, 4)


def test_times_change_no_id() -> None:
    assert [each.id for each in read(RED.format(time=6.5)).findings] == [
        each.id for each in read(RED.format(time=101)).findings
    ]


def test_the_list_at_the_end_is_enough() -> None:
    seen = read(RED[RED.index("\u2139 tests") :].format(time=1.5))

    assert [(each.id, each.file, each.line) for each in seen.findings] == [("sums", "till.test.js", 2)]


def test_with_dots_a_message_ends_where_the_next_failure_begins() -> None:
    seen = read(
        "X.X\n\nFailed tests:\n\n✖ plans (1.8ms)\n  'plan expected 1 assertions but received 2'\n"
        "✖ shuts (39.2ms)\n  AssertionError [ERR_ASSERTION]: stuck\n      at a.js:1:1\n"
    )

    assert [(each.id, each.message) for each in seen.findings] == [
        ("plans", "'plan expected 1 assertions but received 2'"),
        ("shuts", "AssertionError [ERR_ASSERTION]: stuck"),
    ]
