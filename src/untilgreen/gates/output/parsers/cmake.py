"""CMake's own errors, before anything is built: `CMake Error at CMakeLists.txt:3 (find_package):`."""

from __future__ import annotations

from collections.abc import Sequence

from untilgreen.core.values.model import Finding
from untilgreen.gates.output.parsers.findings import finding_about, finding_at, linter_result, paragraph
from untilgreen.gates.output.tool_result import ToolResult
from untilgreen.regex import regex

TOOL = "cmake"
_AT = regex(r"CMake Error(?: \(dev\))? at (\S.{0,500}?):(\d{1,7})(?: \((\w{1,100})\))?:$")
_ERROR = regex(r"CMake Error: (\S.*)$")
_INCOMPLETE = "-- Configuring incomplete, errors occurred!"


def read(lines: Sequence[str]) -> ToolResult | None:
    """CMake's errors in these lines; None if there are none."""
    errors: list[Finding] = []
    for number, line in enumerate(lines):
        if (at := _AT.match(line)) is not None:
            said = " ".join(paragraph(lines, number + 1).split())
            errors.append(finding_at(at[1], int(at[2]), said, at[3] or ""))
        elif (error := _ERROR.match(line)) is not None:
            errors.append(finding_about(error[1], error[1]))
    return linter_result(TOOL, errors, certain=_INCOMPLETE in lines) if errors else None
