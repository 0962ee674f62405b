"""mypy: `a.py:3: error: message  [code]`."""

from __future__ import annotations

from collections.abc import Sequence

from untilgreen.core.values.model import Finding
from untilgreen.gates.output.parsers.findings import finding_at, linter_result
from untilgreen.gates.output.tool_result import ToolResult
from untilgreen.regex import regex

TOOL = "mypy"
_PLACE = regex(r"(\S.{0,500}?\.pyi?):(\d{1,7})(?::\d{1,7}){0,3}: (error|warning): (\S.*)$")
_WHOLE = regex(r"(\S.{0,500}?\.pyi?): error: (\S.*)$")
_COUNT = regex(
    r"Found \d{1,9} errors? in \d{1,9} files? \(|Success: no issues found in \d{1,9} source files?$"
)


def read(lines: Sequence[str]) -> ToolResult | None:
    """What mypy says in these lines; None if it did not print them."""
    errors: list[Finding] = []
    warnings: list[Finding] = []
    counted = False
    for line in lines:
        if ".py" in line and (place := _PLACE.match(line)) is not None:
            found = finding_at(place[1], int(place[2]), f"{place[3]}: {place[4]}")
            (errors if place[3] == "error" else warnings).append(found)
        elif ".py" in line and (whole := _WHOLE.match(line)) is not None:
            errors.append(finding_at(whole[1], None, f"error: {whole[2]}"))
        elif _COUNT.match(line):
            counted = True
    return linter_result(TOOL, errors, warnings, certain=counted) if errors or counted else None
