"""TAP, as node's runner and others print it."""

import pytest

from untilgreen.gates.output.recognize import recognize
from untilgreen.gates.output.tool_result import ToolResult

NESTED = """\
TAP version 13
# Subtest: till
    # Subtest: sums
    not ok 1 - sums
      ---
      duration_ms: 7.9
      location: '/home/me/till.test.js:2:52'
      error: '2 == 3'
      ...
    # Subtest: opens
    ok 2 - opens
    # Subtest: rings
    ok 3 - rings # SKIP
    1..3
not ok 1 - till
  ---
  error: '1 subtest failed'
  ...
# Subtest: shuts
not ok 2 - shuts
  ---
  error: |-
    it is stuck
    in the frame
  code: 'ERR'
  ...
not ok 3 - one day # TODO later
1..3
"""


def read(text: str) -> ToolResult:
    seen = recognize(text)
    assert seen is not None
    assert seen.tool == "tap"
    return seen


def test_subtests_stand_for_the_test_around_them() -> None:
    seen = read(NESTED)

    assert [(each.id, each.message) for each in seen.findings] == [
        ("till > sums", "2 == 3"),
        ("shuts", "it is stuck\nin the frame"),
    ]
    assert (seen.passed, seen.failed, seen.skipped, seen.total) == (1, 2, 2, 5)


def test_a_test_that_fails_although_its_subtests_pass_is_a_failure_itself() -> None:
    seen = read("TAP version 14\n    ok 1 - inner\n    1..1\nnot ok 1 - outer\n1..1\n")

    assert [each.id for each in seen.findings] == ["outer"]
    assert (seen.passed, seen.failed) == (1, 1)


def test_fewer_tests_than_planned_are_a_failure() -> None:
    seen = read("1..3\nok 1 - a\nok 2 - b\n")

    assert [(each.id, each.message) for each in seen.findings] == [
        ("unfinished", "3 tests were planned, 2 ran.")
    ]
    assert seen.score == pytest.approx(2 / 3)


def test_bailing_out_is_a_failure() -> None:
    assert [(each.id, each.message) for each in read("1..3\nok 1\nBail out! no disk\n").findings] == [
        ("bailed out", "no disk")
    ]


def test_numbers_change_no_id_of_a_test_with_a_name() -> None:
    one, other = read("1..1\nnot ok 1 - sums\n"), read("1..2\nok 1 - a\nnot ok 2 - sums\n")

    assert [each.id for each in one.findings] == [each.id for each in other.findings] == ["sums"]


def test_points_without_a_plan_or_a_version_are_not_tap_among_other_lines() -> None:
    assert recognize("ok 1 - a\nnot ok 2 - b\nDone.\n") is None


def test_points_alone_are_tap_that_was_cut_off_before_its_plan() -> None:
    seen = recognize("ok 1 - a\n# a note\nok 2 - b\n")

    assert seen is not None
    assert ([each.id for each in seen.findings], seen.passed, seen.failed) == (["unfinished"], 2, 1)
