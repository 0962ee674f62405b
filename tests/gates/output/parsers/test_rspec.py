"""rspec: numbered failures, counts, commands to run them again."""

from untilgreen.gates.output.recognize import recognize
from untilgreen.gates.output.tool_result import ToolResult

RED = """\
.F*

Pending: (Failures listed here are expected and do not affect your suite's status)

  1) Bell rings
     # Temporarily skipped with xit

Failures:

  1) Till sums
     Failure/Error: expect(till.sum).to eq(3)

       expected: 3
            got: 2
     # ./spec/till_spec.rb:{line}:in `block (2 levels) in <top (required)>'

Finished in 0.0{line} seconds (files took 0.1 seconds to load)
3 examples, 1 failure, 1 pending

Failed examples:

rspec ./spec/till_spec.rb:{line} # Till sums
"""


def read(text: str) -> ToolResult:
    seen = recognize(text)
    assert seen is not None
    assert seen.tool == "rspec"
    return seen


def test_a_failure_is_known_by_file_and_description() -> None:
    seen = read(RED.format(line=5))

    assert [(each.id, each.message, each.file, each.line) for each in seen.findings] == [
        ("spec/till_spec.rb: Till sums", "expect(till.sum).to eq(3)", "spec/till_spec.rb", 5)
    ]
    assert (seen.passed, seen.failed, seen.skipped, seen.total) == (1, 1, 1, 3)


def test_lines_and_times_change_no_id() -> None:
    assert read(RED.format(line=5)).findings[0].id == read(RED.format(line=8)).findings[0].id


def test_a_file_that_does_not_load_is_a_failure_and_not_an_empty_run() -> None:
    seen = read(
        "An error occurred while loading ./spec/door_spec.rb.\nFailure/Error: require 'lock'\n\n"
        "0 examples, 0 failures, 1 error occurred outside of examples\n"
    )

    assert [each.id for each in seen.findings] == ["spec/door_spec.rb: outside of examples"]
    assert (seen.no_tests, seen.score) == (False, 0.0)
