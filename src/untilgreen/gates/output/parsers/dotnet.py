"""dotnet test: `Failed Name [12 ms]` or `X Name [12ms]`, its message below, counts; and MSBuild's errors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from untilgreen.core.values.model import Finding
from untilgreen.gates.output.parsers.findings import finding_about, finding_at, linter_result, runner_result
from untilgreen.gates.output.tool_result import ToolResult
from untilgreen.regex import regex

TOOL = "dotnet"
_TEST = regex(r" {2}(?:Failed|X) (\S.{0,500}?) \[(?:< )?\d[^\[\]]{0,20}\]$")
_COUNTS = regex(
    r"(?:Passed|Failed|Skipped)! {1,3}- Failed: {1,9}(\d{1,9}), Passed: {1,9}(\d{1,9}), "
    r"Skipped: {1,9}(\d{1,9}), Total: {1,9}(\d{1,9})"
)
_LISTED = regex(r" {2,9}(Passed|Failed|Skipped): (\d{1,9})$")
"""Below `Total tests: 3`; 3.1 always prints it, later versions only in their longer output."""
_BUILD = regex(
    r"\s{0,9}(\S[^()]{0,500})\((\d{1,7}),\d{1,7}\): (error|warning) ([A-Z]{2,8}\d{2,6}): "
    r"(.{1,1000}?)(?: \[[^\[\]]{1,500}\])?$"
)
_PLACE = regex(r"\s{1,9}at .{1,500} in (\S.{0,500}):line (\d{1,7})$")
_EMPTY = regex(
    r"No test is available in |No test matches the given testcase filter|"
    r"A total of \d{1,9} tests? were discovered but no test matches "
)
_TOTAL = regex(r"Total tests: (?:\d{1,9}|Unknown)$")
_ABORTED = "The active test run was aborted"
_NEXT = ("  √ ", "  Passed ", "Test Run ")
"""What may follow the message of a failure, besides another failure."""
_MOST_LINES = 30


def read(lines: Sequence[str]) -> ToolResult | None:
    """What dotnet says in these lines; None if it did not print them."""
    summed, listed = Counter[str](), Counter[str]()
    known = False
    findings: list[Finding] = []
    errors: list[Finding] = []
    warnings: list[Finding] = []
    for number, line in enumerate(lines):
        if (test := _TEST.match(line)) is not None:
            findings.append(_finding(test[1], lines, number + 1))
        elif (counts := _COUNTS.match(line)) is not None:
            known = True
            summed.update(Failed=int(counts[1]), Passed=int(counts[2]), Skipped=int(counts[3]))
        elif _EMPTY.match(line) or _TOTAL.match(line):
            known = True
        elif (count := _LISTED.match(line)) is not None:
            listed[count[1]] += int(count[2])
        elif line.startswith(_ABORTED):
            known = True
            findings.append(finding_about("unfinished", line))
        elif (place := _BUILD.match(line)) is not None and not place[4].startswith("TS"):
            found = finding_at(place[1], int(place[2]), place[5], place[4])
            (errors if place[3] == "error" else warnings).append(found)
    if known:
        told = summed or listed
        return runner_result(
            TOOL,
            [*findings, *errors],
            passed=told["Passed"],
            failed=told["Failed"],
            skipped=told["Skipped"],
            empty=True,
        )
    return linter_result(TOOL, errors, warnings, certain=True) if errors or warnings else None


def _finding(name: str, lines: Sequence[str], number: int) -> Finding:
    said: list[str] = []
    place = None
    for line in lines[number : number + _MOST_LINES]:
        if _TEST.match(line) or _COUNTS.match(line) or line.startswith(_NEXT):
            break
        place = place or _PLACE.match(line)
        if line.strip() and line.strip() not in ("Error Message:", "Stack Trace:"):
            said.append(line.strip())
    file, row = (place[1], int(place[2])) if place else (None, None)
    return finding_about(name, "\n".join(said[:3]), file, row)
