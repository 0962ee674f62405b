"""jasmine: dots below `Started`, numbered failures, `3 specs, 1 failure` at the end."""

from __future__ import annotations

from collections.abc import Sequence

from untilgreen.core.values.model import Finding
from untilgreen.core.values.units import several
from untilgreen.gates.output.parsers.findings import finding_about, paragraph, runner_result
from untilgreen.gates.output.tool_result import ToolResult
from untilgreen.regex import regex

TOOL = "jasmine"
_COUNTS = regex(r"(\d{1,9}) specs?, (\d{1,9}) failures?(?:, (\d{1,9}) pending specs?)?$")
_ENTRY = regex(r"\d{1,9}\) (\S.*)$")
_OUTSIDE = regex(r"Suite error: (\S.*)$")
_INCOMPLETE = regex(r"Incomplete: (\S.*)$")
_NONE = "No specs found"
_STARTED, _MARKS = "Started", regex(r"[.F*]{1,5000}$")
_MESSAGE = "Message:"


def read(lines: Sequence[str]) -> ToolResult | None:
    """What jasmine says in these lines; None if it did not print them."""
    findings: list[Finding] = []
    counts: tuple[int, int, int] | None = None
    red = empty = False
    for number, line in enumerate(lines):
        if line in ("Failures:", "Pending:"):
            red = line == "Failures:"
        elif red and (entry := _ENTRY.match(line) or _OUTSIDE.match(line)) is not None:
            findings.append(finding_about(entry[1], _why(lines, number + 1)))
        elif (found := _COUNTS.match(line)) is not None:
            counts, red = (int(found[1]), int(found[2]), int(found[3] or 0)), False
        elif line == _NONE:
            empty = True
        elif (incomplete := _INCOMPLETE.match(line)) is not None and incomplete[1] != _NONE:
            findings.append(finding_about("incomplete", incomplete[1]))
    if counts is None and not empty:
        return _unfinished(lines)
    total, failed, skipped = counts or (0, 0, 0)
    return runner_result(
        TOOL, findings, passed=max(total - failed - skipped, 0), failed=failed, skipped=skipped, empty=True
    )


def _unfinished(lines: Sequence[str]) -> ToolResult | None:
    """A process that exited halfway has printed its progress marks at most."""
    start = lines.index(_STARTED) if _STARTED in lines else len(lines)
    marks = "".join(lines[start + 1 : start + 2])
    if not _MARKS.match(marks):
        return None
    told = f"It ended after {several(len(marks), 'spec')}, before its summary."
    return runner_result(
        TOOL,
        [finding_about("unfinished", told)],
        passed=marks.count("."),
        failed=marks.count("F") + 1,
        skipped=marks.count("*"),
    )


def _why(lines: Sequence[str], number: int) -> str:
    said = paragraph(lines, number).splitlines()
    after = said[said.index(_MESSAGE) + 1 :] if _MESSAGE in said else said
    return "\n".join(after[: after.index("Stack:")] if "Stack:" in after else after)
