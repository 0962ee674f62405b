"""go test, as plain text and as JSON events."""

import json

import pytest

from untilgreen.gates.output.recognize import recognize
from untilgreen.gates.output.tool_result import ToolResult

PLAIN = """\
--- FAIL: TestTill ({time}s)
    --- FAIL: TestTill/sums ({time}s)
        till_test.go:{line}: got 2 want 3
FAIL
FAIL\texample.org/shop/till\t{time}s
ok  \texample.org/shop/bell\t0.010s
?   \texample.org/shop/cmd\t[no test files]
FAIL
"""
VERBOSE = """\
=== RUN   TestOpen
--- PASS: TestOpen (0.00s)
=== RUN   TestSum
    till_test.go:12: got 2 want 3
--- FAIL: TestSum (0.00s)
=== RUN   TestRing
--- SKIP: TestRing (0.00s)
FAIL
FAIL\tshop/till\t0.01s
"""
BROKEN = """\
# shop/till [shop/till.test]
./till_test.go:9:8: till.Sum undefined (type Till has no field or method Sum)
FAIL\tshop/till [build failed]
"""


def read(text: str) -> ToolResult:
    seen = recognize(text)
    assert seen is not None
    assert seen.tool == "go-test"
    return seen


def events(*rows: dict[str, object]) -> str:
    return "\n".join(json.dumps(row, separators=(",", ":")) for row in rows)


def test_only_the_innermost_failure_is_a_finding_and_names_its_package() -> None:
    seen = read(PLAIN.format(time="0.00", line=17))

    assert [(each.id, each.message) for each in seen.findings] == [
        ("example.org/shop/till.TestTill/sums", "till_test.go:17: got 2 want 3")
    ]


def test_packages_are_counted_where_green_tests_are_not_named() -> None:
    seen = read(PLAIN.format(time="0.00", line=17))

    assert (seen.passed, seen.failed, seen.total) == (1, 1, 2)


def test_tests_are_counted_where_all_are_named() -> None:
    seen = read(VERBOSE)

    assert (seen.passed, seen.failed, seen.skipped, seen.total) == (1, 1, 1, 3)
    assert [(each.id, each.message) for each in seen.findings] == [
        ("shop/till.TestSum", "till_test.go:12: got 2 want 3")
    ]


def test_lines_and_times_change_no_id() -> None:
    assert [each.id for each in read(PLAIN.format(time="0.00", line=17)).findings] == [
        each.id for each in read(PLAIN.format(time="1.25", line=30)).findings
    ]


def test_compile_errors_are_findings_with_their_places() -> None:
    seen = read(BROKEN)

    assert [(each.file, each.line) for each in seen.findings] == [("./till_test.go", 9)]
    assert seen.score == 0.0


def test_a_package_that_panics_is_a_finding_with_its_reason() -> None:
    seen = read("panic: out of cheese\n\ngoroutine 1 [running]:\nFAIL\tshop/till\t0.01s\nFAIL\n")

    assert [(each.id, each.message) for each in seen.findings] == [("shop/till", "panic: out of cheese")]


@pytest.mark.parametrize("line", ["./till_test.go:9:8: undefined: Sum", "till_test.go:10: got 2 want 3"])
def test_a_lone_finding_about_a_test_file_is_known(line: str) -> None:
    assert len(read(line).findings) == 1


def test_a_linter_of_go_is_another_tool() -> None:
    seen = recognize("till_test.go:42:21: Error return value is not checked (errcheck)")

    assert seen is not None
    assert seen.tool == "lines"


def test_events_say_the_same_as_plain_words() -> None:
    base = {"Time": "2024-01-01T00:00:00Z", "Package": "shop/till"}
    place = "    till_test.go:12: got 2 want 3\n"
    seen = read(
        events(
            {**base, "Action": "run", "Test": "TestSum"},
            {**base, "Action": "output", "Test": "TestSum", "Output": place},
            {**base, "Action": "fail", "Test": "TestSum", "Elapsed": 0.1},
            {**base, "Action": "pass", "Test": "TestOpen", "Elapsed": 0.1},
            {**base, "Action": "skip", "Test": "TestRing", "Elapsed": 0.1},
            {**base, "Action": "fail", "Elapsed": 0.2},
        )
    )

    assert seen == read(VERBOSE)


def test_a_build_that_failed_is_known_from_its_events() -> None:
    said = "till/till_test.go:3:1: expected 'package'\n"
    seen = read(
        events(
            {"ImportPath": "shop/till.test", "Action": "build-output", "Output": said},
            {"ImportPath": "shop/till.test", "Action": "build-fail"},
            {"Action": "output", "Package": "shop/till", "Output": "FAIL\tshop/till [setup failed]\n"},
            {"Action": "fail", "Package": "shop/till"},
        )
    )

    assert [(each.file, each.line) for each in seen.findings] == [("till/till_test.go", 3)]


def test_events_without_any_test_mean_no_tests() -> None:
    seen = read(events({"Action": "skip", "Package": "shop/cmd"}))

    assert seen.no_tests
