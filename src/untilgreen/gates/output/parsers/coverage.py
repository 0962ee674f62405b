"""Coverage below its threshold, as jest, c8, nyc, vitest and coverage.py report it after green tests."""

from __future__ import annotations

from collections.abc import Sequence

from untilgreen.gates.output.parsers.findings import finding_about, linter_result
from untilgreen.gates.output.tool_result import ToolResult
from untilgreen.regex import regex

TOOL = "coverage"
_JEST = regex(r'Jest: "(.{1,300})" coverage threshold for (\w{1,20}) \(.{1,30}\) not met: .{1,30}$')
_ISTANBUL = regex(
    r"(?:ERROR|Jest): Coverage for (\w{1,20}) \(.{1,30}\) does not meet (?:\"?(.{1,300}?)\"? )?threshold "
)
_COVERAGE_PY = regex(r"Coverage failure: total of .{1,30} is less than fail-under=")


def read(lines: Sequence[str]) -> ToolResult | None:
    """The thresholds that were missed; None if there is none."""
    missed = []
    for line in lines:
        if (jest := _JEST.match(line)) is not None:
            missed.append(finding_about(f"coverage of {jest[2]}: {jest[1]}", line))
        elif (other := _ISTANBUL.match(line)) is not None:
            missed.append(finding_about(f"coverage of {other[1]}: {other[2] or 'global'}", line))
        elif _COVERAGE_PY.match(line):
            missed.append(finding_about("coverage", line))
    return linter_result(TOOL, missed, certain=True) if missed else None
