"""rspec: numbered failures, a line of counts, and the commands that run each failure again."""

from __future__ import annotations

from collections.abc import Sequence

from untilgreen.core.values.model import Finding
from untilgreen.core.values.units import several
from untilgreen.gates.output.parsers.findings import counts_in, finding_about, paragraph, runner_result
from untilgreen.gates.output.tool_result import ToolResult
from untilgreen.regex import regex

TOOL = "rspec"
_COUNTS = regex(r"\d{1,9} examples?, \d{1,9} failures?(?:, \d{1,9} [a-z ]{1,60})*$")
_AGAIN = regex(r"rspec '?(?:\./)?([^\s:\[']{1,500})(?::(\d{1,7})|\[[\d:,]{1,50}\])?'? # (\S.*)$")
_ENTRY = regex(r" {1,6}\d{1,9}\) (\S.*)$")
_LOADING = regex(r"An error occurred (?:while loading|in an?|in) (\S.{0,500}?)\.?$")
_PROGRESS = regex(r"[.F*]{1,5000}$")
_SUMMARY, _BEFORE = ("Finished in ", "Failures:", "Pending:"), ("Run options:", "Randomized with seed ")
_FAILURE = "Failure/Error: "


def read(lines: Sequence[str]) -> ToolResult | None:
    """What rspec says in these lines; None if it did not print them."""
    counts: dict[str, int] = {}
    said: dict[str, str] = {}
    findings: list[Finding] = []
    ran = False
    for number, line in enumerate(lines):
        if _COUNTS.match(line):
            ran = True
            for word, count in counts_in(line).items():
                singular = word.removesuffix("s")
                counts[singular] = counts.get(singular, 0) + count
        elif (entry := _ENTRY.match(line)) is not None:
            said.setdefault(entry[1], _why(lines, number))
        elif (again := _AGAIN.match(line)) is not None:
            row = int(again[2]) if again[2] else None
            findings.append(finding_about(f"{again[1]}: {again[3]}", said.get(again[3], ""), again[1], row))
        elif (loading := _LOADING.match(line)) is not None:
            file = loading[1].removeprefix("./")
            findings.append(finding_about(f"{file}: outside of examples", _why(lines, number), file))
    if not ran:
        return None
    seen = _marks(lines)
    if not findings and seen is not None and seen < counts.get("example", 0):
        findings.append(finding_about("unfinished", f"It ended after {several(seen, 'example')}."))
    failed = counts.get("failure", 0) + counts.get("error", 0)
    skipped = counts.get("pending", 0)
    total = counts.get("example", 0) + counts.get("error", 0)
    return runner_result(
        TOOL,
        findings,
        passed=max(total - failed - skipped, 0),
        failed=failed,
        skipped=skipped,
        empty=True,
    )


def _marks(lines: Sequence[str]) -> int | None:
    """How many examples finished, if only a mark for each was printed before the summary; else None.

    An example that calls `exit` is counted, but neither it nor those after it get a mark.
    """
    shown = 0
    for line in lines:
        if line.startswith(_SUMMARY):
            return shown or None
        if line.strip() and not line.startswith(_BEFORE):
            if not _PROGRESS.match(line):
                return None
            shown += len(line)
    return None


def _why(lines: Sequence[str], number: int) -> str:
    return paragraph(lines, number + 1, 8).removeprefix(_FAILURE)
