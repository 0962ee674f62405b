"""busted: `2 successes / 1 failure / 0 errors / 0 pending`, then `Failure -> file @ line` and a name."""

from __future__ import annotations

from collections.abc import Sequence

from untilgreen.core.values.model import Finding
from untilgreen.gates.output.parsers.findings import finding_about, finding_at, paragraph, runner_result
from untilgreen.gates.output.tool_result import ToolResult
from untilgreen.regex import regex

TOOL = "busted"
_COUNTS = regex(r"(\d{1,9}) success(?:es)? / (\d{1,9}) failures? / (\d{1,9}) errors? / (\d{1,9}) pending : ")
_ENTRY = regex(r"(?:Failure|Error) (?:->|→) (\S.{0,500}?)(?: @ (\d{1,7}))?$")
_PLACE = regex(r"(\S{1,500}?):(\d{1,7}): (\S.*)$")


def read(lines: Sequence[str]) -> ToolResult | None:
    """What busted says in these lines; None if it did not print them."""
    passed = failed = skipped = 0
    known = False
    findings: list[Finding] = []
    for number, line in enumerate(lines):
        if (counts := _COUNTS.match(line)) is not None:
            known = True
            passed, skipped = passed + int(counts[1]), skipped + int(counts[4])
            failed += int(counts[2]) + int(counts[3])
        elif known and (entry := _ENTRY.match(line)) is not None and number + 1 < len(lines):
            if (place := _PLACE.match(entry[1])) is not None:  # of a file that does not load
                findings.append(finding_at(place[1], int(place[2]), place[3]))
                continue
            name = lines[number + 1].strip()
            row = int(entry[2]) if entry[2] else None
            findings.append(finding_about(f"{entry[1]}: {name}", paragraph(lines, number + 2), entry[1], row))
    if not known:
        return None
    return runner_result(TOOL, findings, passed=passed, failed=failed, skipped=skipped, empty=True)
