"""CTRF and SARIF: what is read from them, and why they are refused."""

import io
import json
from pathlib import Path
from typing import Any

import pytest

from untilgreen.gates.output.report_files import Report
from untilgreen.gates.output.reports.json_report import read, read_sarif
from untilgreen.gates.output.tool_result import NO_TESTS, BadReport, ToolResult

TESTS: list[dict[str, Any]] = [
    {"name": "opens", "status": "passed", "duration": 3},
    {"name": "sums", "status": "failed", "message": "2 is not 3", "suite": ["till", "inner"], "line": 4},
    {"name": "shuts", "status": "other", "suite": "till", "filePath": "till.test.js"},
    {"name": "rings", "status": "skipped"},
    {"name": "rests", "status": "pending"},
]


def parse(value: Any) -> ToolResult:
    return read(io.BytesIO(value if isinstance(value, bytes) else json.dumps(value).encode()))


def ctrf(tests: list[dict[str, Any]], /, **summary: int) -> dict[str, Any]:
    return {"results": {"tool": {"name": "any"}, "summary": summary, "tests": tests}}


def result(level: str = "error", line: int = 3, **more: Any) -> dict[str, Any]:
    place = {"artifactLocation": {"uri": "src/a%20b.py"}, "region": {"startLine": line}}
    said = {"text": f"row {line} is bad"}
    return {
        "ruleId": "R1",
        "level": level,
        "message": said,
        "locations": [{"physicalLocation": place}],
        **more,
    }


def sarif(*results: dict[str, Any], version: str = "2.1.0", **more: Any) -> dict[str, Any]:
    return {"version": version, "runs": [{"tool": {"driver": {"name": "any"}}, "results": results, **more}]}


def test_tests_of_ctrf_are_counted_and_failures_are_findings() -> None:
    seen = parse(ctrf(TESTS))

    assert [(each.id, each.message, each.file) for each in seen.findings] == [
        ("till > inner > sums", "2 is not 3", None),
        ("till.test.js: till > shuts", "other", "till.test.js"),
    ]
    assert (seen.tool, seen.passed, seen.failed, seen.skipped, seen.total) == ("ctrf", 1, 2, 2, 5)


def test_a_summary_of_ctrf_that_knows_of_more_tests_is_believed() -> None:
    assert parse(ctrf(TESTS[:1], tests=4, failed=2)).score == pytest.approx(0.25)


def test_ctrf_without_tests_means_no_tests() -> None:
    seen = parse(ctrf([]))

    assert (seen.no_tests, [each.id for each in seen.findings]) == (True, [NO_TESTS])


def test_results_of_sarif_are_known_by_file_rule_and_words() -> None:
    one, other = parse(sarif(result(line=3))), parse(sarif(result(line=70)))

    assert [(each.id, each.file, each.line) for each in one.findings] == [
        ("src/a b.py: R1 row <n> is bad", "src/a b.py", 3)
    ]
    assert one.findings[0].id == other.findings[0].id


def test_warnings_of_sarif_are_findings_only_where_there_is_no_error() -> None:
    warning = {**result("warning"), "ruleId": "R2"}

    assert [each.id[:14] for each in parse(sarif(warning)).findings] == ["src/a b.py: R2"]
    assert [each.id[:14] for each in parse(sarif(warning, result())).findings] == ["src/a b.py: R1"]


@pytest.mark.parametrize(
    "settled", [{"kind": "pass"}, {"baselineState": "absent"}, {"suppressions": [{"kind": "inSource"}]}]
)
def test_what_is_settled_in_sarif_is_not_a_finding(settled: dict[str, Any]) -> None:
    assert parse(sarif(result(**settled))).findings == ()


def test_an_analysis_that_did_not_finish_is_a_finding() -> None:
    notice = {"message": {"text": "out of memory"}, "level": "error"}
    call = {"executionSuccessful": False, "toolExecutionNotifications": [notice]}

    assert [(each.id, each.message) for each in parse(sarif(invocations=[call])).findings] == [
        ("unfinished analysis", "out of memory")
    ]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"null",
        b"[]",
        b"{}",
        json.dumps(ctrf(TESTS)).encode()[:-20],
        json.dumps(ctrf(TESTS)).encode("utf-16"),
        b'{"results": {"tests": [{"name": "\xff", "status": "passed"}]}}',
        b'{"results": {"tests": [{"name": 3, "status": "passed"}]}}',
        b'{"runs": ' + b"[" * 100_000,
        json.dumps(sarif(version="2.0.0")).encode(),
    ],
    ids=["empty", "null", "list", "neither", "truncated", "utf-16", "bytes", "shape", "deep", "version"],
)
def test_anything_but_a_whole_report_is_refused(data: bytes) -> None:
    with pytest.raises(BadReport):
        parse(data)


def test_a_byte_order_mark_is_accepted() -> None:
    assert parse(b"\xef\xbb\xbf" + json.dumps(ctrf(TESTS)).encode()).total == 5


def test_a_file_called_sarif_must_be_sarif() -> None:
    with pytest.raises(BadReport, match=r"2\.1\.0"):
        read_sarif(io.BytesIO(json.dumps(ctrf(TESTS)).encode()))


@pytest.mark.parametrize("name", ["ctrf.json", "a.sarif", "a.tap"])
def test_a_report_older_than_the_run_is_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text(
        {"ctrf.json": json.dumps(ctrf(TESTS)), "a.sarif": json.dumps(sarif())}.get(name, "1..1\nok 1\n")
    )
    report = Report(pattern=name, cwd=tmp_path, root=tmp_path)
    written = path.stat().st_mtime_ns

    assert report.read(written).failed == (2 if name == "ctrf.json" else 0)
    with pytest.raises(BadReport, match="older"):
        report.read(written + 3_600_000_000_000)
