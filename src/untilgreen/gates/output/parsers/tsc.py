"""The TypeScript compiler: `a.ts(3,4): error TS2304: message`, or `a.ts:3:4 - error ...` when pretty."""

from __future__ import annotations

from collections.abc import Sequence

from untilgreen.core.values.model import Finding
from untilgreen.gates.output.parsers.findings import finding_about, finding_at, linter_result
from untilgreen.gates.output.tool_result import ToolResult
from untilgreen.regex import regex

TOOL = "tsc"
_PLACE = regex(
    r"(\S[^()]{0,500}?)(?:\((\d{1,7}),\d{1,7}\): |:(\d{1,7}):\d{1,7} - )"
    r"(error|warning|message) (TS\d{1,6}): (.+)$"
)
_GLOBAL = regex(r"error (TS\d{1,6}): (.+)$")


def read(lines: Sequence[str]) -> ToolResult | None:
    """What tsc says in these lines; None if it did not print them."""
    errors: list[Finding] = []
    warnings: list[Finding] = []
    for line in lines:
        if " TS" not in line:
            continue
        if (place := _PLACE.match(line)) is not None:
            found = finding_at(place[1], int(place[2] or place[3]), place[6], place[5])
            (errors if place[4] == "error" else warnings).append(found)
        elif (everywhere := _GLOBAL.match(line)) is not None:
            errors.append(finding_about(f"{everywhere[1]} {everywhere[2]}", everywhere[2]))
    return linter_result(TOOL, errors, warnings, certain=True) if errors or warnings else None
