"""dotnet test: `Failed Name [12 ms]`, its message below, a line of counts; and MSBuild's errors."""

from __future__ import annotations

from collections.abc import Sequence

from untilgreen.core.values.model import Finding
from untilgreen.gates.output.parsers.findings import finding_about, finding_at, linter_result, runner_result
from untilgreen.gates.output.tool_result import ToolResult
from untilgreen.regex import regex

TOOL = "dotnet"
_TEST = regex(r" {2}Failed (\S.{0,500}?) \[(?:< )?\d[^\[\]]{0,20}\]$")
_COUNTS = regex(
    r"(?:Passed|Failed|Skipped)! {1,3}- Failed: {1,9}(\d{1,9}), Passed: {1,9}(\d{1,9}), "
    r"Skipped: {1,9}(\d{1,9}), Total: {1,9}(\d{1,9})"
)
_BUILD = regex(
    r"\s{0,9}(\S[^()]{0,500})\((\d{1,7}),\d{1,7}\): (error|warning) ([A-Z]{2,8}\d{2,6}): "
    r"(.{1,1000}?)(?: \[[^\[\]]{1,500}\])?$"
)
_PLACE = regex(r"\s{1,9}at .{1,500} in (\S.{0,500}):line (\d{1,7})$")
_EMPTY = ("No test is available in ", "No test matches the given testcase filter")
_MOST_LINES = 30


def read(lines: Sequence[str]) -> ToolResult | None:
    """What dotnet says in these lines; None if it did not print them."""
    passed = failed = skipped = 0
    counted = False
    findings: list[Finding] = []
    errors: list[Finding] = []
    warnings: list[Finding] = []
    for number, line in enumerate(lines):
        if (test := _TEST.match(line)) is not None:
            findings.append(_finding(test[1], lines, number + 1))
        elif (counts := _COUNTS.match(line)) is not None:
            counted = True
            failed, passed = failed + int(counts[1]), passed + int(counts[2])
            skipped += int(counts[3])
        elif line.startswith(_EMPTY):
            counted = True
        elif (place := _BUILD.match(line)) is not None and not place[4].startswith("TS"):
            found = finding_at(place[1], int(place[2]), place[5], place[4])
            (errors if place[3] == "error" else warnings).append(found)
    if counted:
        found_all = [*findings, *errors]
        return runner_result(TOOL, found_all, passed=passed, failed=failed, skipped=skipped, empty=True)
    return linter_result(TOOL, errors, warnings, certain=True) if errors or warnings else None


def _finding(name: str, lines: Sequence[str], number: int) -> Finding:
    said: list[str] = []
    place = None
    for line in lines[number : number + _MOST_LINES]:
        if _TEST.match(line) or _COUNTS.match(line):
            break
        place = place or _PLACE.match(line)
        if line.strip() and line.strip() not in ("Error Message:", "Stack Trace:"):
            said.append(line.strip())
    file, row = (place[1], int(place[2])) if place else (None, None)
    return finding_about(name, "\n".join(said[:3]), file, row)
