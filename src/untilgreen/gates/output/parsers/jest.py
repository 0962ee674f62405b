"""jest: a header for each file, a bullet for each failure, a line of counts at the end."""

from __future__ import annotations

from collections.abc import Sequence

from untilgreen.core.values.model import Finding
from untilgreen.core.values.units import several
from untilgreen.gates.output.parsers.findings import counts_in, finding_about, paragraph, runner_result
from untilgreen.gates.output.tool_result import ToolResult
from untilgreen.regex import regex

TOOL = "jest"
_FILE = regex(r" ?(FAIL|PASS) {1,2}(?:\S{1,100} )??(\S{1,500}\.[cm]?[jt]sx?)(?: \(\d[^()]{0,30}\))?$")
_MARK = regex(r"\s{1,80}([✓✕○✎√×]) \S")
_BULLET = regex(r" {0,2}● (\S.*)$")
_LEFT = regex(r" {0,4}● {2}process\.exit called with \S{1,20}$")
_NOT_RUN = "Test suite failed to run"
_PLACE = regex(r" {2,20}at .{0,300}?\(?([^\s()]{1,500}\.[cm]?[jt]sx?):\d{1,7}:\d{1,7}\)?$")
_NO_FAILURE = ("Console", "Deprecation Warning", "Validation Warning", "Multiple configurations")
_EMPTY = ("No tests found, exiting with code", "No tests found related to files")


def read(lines: Sequence[str]) -> ToolResult | None:
    """What jest says in these lines; None if it did not print them."""
    file, findings, marks = "", [], {"passed": 0, "failed": 0, "skipped": 0}
    counts: dict[str, int] = {}
    told = {"files": False, "suites": False, "empty": False}
    for number, line in enumerate(lines):
        if (header := _FILE.match(line)) is not None:
            file, told["files"] = header[2].removeprefix("./"), True
        elif _LEFT.match(line):
            findings.append(_left(line, lines, number))
            told["files"] = True
        elif (bullet := _BULLET.match(line)) is not None:
            findings += _finding(file, bullet[1], lines, number)
        elif line.startswith("Test Suites: ") and line.endswith(" total"):
            told["suites"] = True
        elif line.startswith("Tests: ") and line.endswith(" total"):
            counts = counts_in(line)
        elif line.startswith(_EMPTY):
            told["empty"] = True
        elif (mark := _MARK.match(line)) is not None:
            marks[_outcome(mark[1])] += 1
    if not (told["suites"] or told["empty"] or (told["files"] and (findings or any(marks.values())))):
        return None
    if not (findings or told["suites"] or told["empty"]):
        count = several(sum(marks.values()), "test")
        findings = [finding_about("unfinished", f"It ended after {count}, before its summary.")]
    return _account(findings, counts or marks, empty=told["empty"] or bool(counts))


def _left(line: str, lines: Sequence[str], number: int) -> Finding:
    """A test that ends the process ends jest, with whatever exit code it chose."""
    place = next(filter(None, map(_PLACE.match, lines[number + 1 : number + 30])), None)
    said = line.strip(" ●")
    return finding_about(f"{place[1]}: unfinished" if place else "unfinished", said, place and place[1])


def _outcome(mark: str) -> str:
    return "passed" if mark in "✓√" else "failed" if mark in "✕×" else "skipped"


def _finding(file: str, title: str, lines: Sequence[str], number: int) -> list[Finding]:
    if title.startswith(_NO_FAILURE):
        return []
    return [finding_about(f"{file}: {title}" if file else title, paragraph(lines, number + 1), file or None)]


def _account(findings: list[Finding], counts: dict[str, int], *, empty: bool) -> ToolResult:
    not_run = {finding.id for finding in findings if finding.id.endswith(_NOT_RUN)}
    return runner_result(
        TOOL,
        findings,
        passed=counts.get("passed", 0),
        failed=counts.get("failed", 0) + len(not_run),  # a file that does not load counts no test
        skipped=counts.get("skipped", 0) + counts.get("todo", 0),
        empty=empty,
    )
