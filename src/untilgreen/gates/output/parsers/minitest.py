"""minitest: `1) Failure:`, a test and its place below it, and a line of counts."""

from __future__ import annotations

from collections.abc import Sequence

from untilgreen.core.values.model import Finding
from untilgreen.core.values.units import several
from untilgreen.gates.output.parsers.findings import counts_in, finding_about, paragraph, runner_result
from untilgreen.gates.output.tool_result import ToolResult
from untilgreen.regex import regex

TOOL = "minitest"
_ENTRY = regex(r" {1,6}\d{1,9}\) (Failure|Error):$")
_TEST = regex(r"(\S{1,300}[#.]\S.{0,300}?)(?: \[(\S{1,500}?):(\d{1,7})\])?:$")
_COUNTS = regex(
    r"\d{1,9} (?:runs|tests), \d{1,9} assertions, \d{1,9} failures, \d{1,9} errors(?:, \d{1,9} \w{1,20})*$"
)
_OPTIONS, _RUNNING = "Run options:", "# Running:"
_MARKS = regex(r"(?:\S.* = \d{1,9}\.\d{1,9} s = )?([.FES]{1,5000})$")


def read(lines: Sequence[str]) -> ToolResult | None:
    """What minitest says in these lines; None if it did not print them."""
    counts: dict[str, int] = {}
    findings: list[Finding] = []
    for number, line in enumerate(lines):
        if _ENTRY.match(line) and number + 1 < len(lines):
            findings += _finding(lines, number + 1)
        elif _COUNTS.match(line):
            for word, count in counts_in(line).items():
                counts[word] = counts.get(word, 0) + count
    if not counts:
        return _unfinished(lines)
    failed, skipped = counts["failures"] + counts["errors"], counts.get("skips", 0)
    ran = counts.get("runs", counts.get("tests", 0))
    return runner_result(
        TOOL,
        findings,
        passed=max(ran - failed - skipped, 0),
        failed=failed,
        skipped=skipped,
        empty=not ran,
    )


def _unfinished(lines: Sequence[str]) -> ToolResult | None:
    """A process that exited halfway, whatever its exit code."""
    if _RUNNING not in lines or not any(line.startswith(_OPTIONS) for line in lines):
        return None
    marks = [mark[1] for line in lines[lines.index(_RUNNING) :] if (mark := _MARKS.match(line)) is not None]
    seen = "".join(marks)
    told = f"It ended after {several(len(seen), 'test')}, before its summary."
    return runner_result(
        TOOL,
        [finding_about("unfinished", told)],
        passed=seen.count("."),
        failed=seen.count("F") + seen.count("E") + 1,
        skipped=seen.count("S"),
    )


def _finding(lines: Sequence[str], number: int) -> list[Finding]:
    test = _TEST.match(lines[number])
    if test is None:
        return []
    line = int(test[3]) if test[3] else None
    return [finding_about(test[1], paragraph(lines, number + 1), test[2], line)]
