"""mocha: `3 passing`, `1 failing`, and then a numbered list of titles that end in a colon."""

from __future__ import annotations

from collections.abc import Sequence

from untilgreen.core.values.model import Finding
from untilgreen.gates.output.parsers.findings import (
    finding_about,
    finding_at,
    paragraph,
    runner_result,
    unread_place,
)
from untilgreen.gates.output.tool_result import ToolResult
from untilgreen.regex import regex

TOOL = "mocha"
_COUNT = regex(r" {1,4}(\d{1,9}) (passing|failing|pending)(?: \(\d{1,9}(?:ms|s|m|h|d)\))?$")
_ENTRY = regex(r" {1,4}\d{1,9}\) (\S.*)$")
_TITLES = 12
_FRAME = regex(r"\s{1,20}at (?:async )?(?:[^()]{1,300} )?\(?([^()\s]{1,500}):(\d{1,7}):\d{1,7}\)?(?: \{)?$")
_OWN_CODE = ("/mocha/lib/", "\\mocha\\lib\\", "/mocha/bin/")
_CRASH = regex(r" {0,2}(?:✖ )?(?:ERROR: |Exception during run: )?((?:\w{1,60})?Error\b.*)$")
_NO_FILES = "Error: No test files found"


def read(lines: Sequence[str]) -> ToolResult | None:
    """What mocha says in these lines; None if it did not print them."""
    counts: dict[str, int] = {}
    findings: list[Finding] = []
    listing = False
    for number, line in enumerate(lines):
        if (count := _COUNT.match(line)) is not None:
            counts[count[2]] = counts.get(count[2], 0) + int(count[1])
            listing = count[2] == "failing"
        elif listing and (entry := _ENTRY.match(line)) is not None:
            findings += _finding(entry[1], lines, number + 1)
    if "passing" not in counts:
        return _crashed(lines)
    return runner_result(
        TOOL,
        findings,
        passed=counts["passing"],
        failed=counts.get("failing", 0),
        skipped=counts.get("pending", 0),
        empty=True,
    )


def _finding(title: str, lines: Sequence[str], number: int) -> list[Finding]:
    """The titles of the suites and the test, one per line and each deeper; the last ends in a colon."""
    titles = [title]
    for line in lines[number : number + _TITLES]:
        if titles[-1].endswith(":") or not line:
            break
        titles.append(line.strip())
        number += 1
    if not titles[-1].endswith(":"):
        return []
    return [finding_about(" > ".join(titles).removesuffix(":"), paragraph(lines, number))]


def _crashed(lines: Sequence[str]) -> ToolResult | None:
    """The error that ended mocha while it loaded the tests: its stack goes through mocha's own code."""
    error, place, said, unread = "", None, "", None
    for number, line in enumerate(lines):
        if line.startswith(_NO_FILES):
            return runner_result(TOOL, [], empty=True)
        if (crash := _CRASH.match(line)) is not None:
            error, place, said = crash[1], None, paragraph(lines, number, 5)
            unread = unread_place(lines, number) if error.startswith("SyntaxError") else None
        elif error and (frame := _FRAME.match(line)) is not None:
            if any(part in frame[1] for part in _OWN_CODE):
                file, row = unread or ((place[1], int(place[2])) if place else (frame[1], None))
                return runner_result(TOOL, [finding_at(file, row, said.partition("\n")[0])])
            if place is None and not frame[1].startswith(("node:", "internal/")):
                place = frame
    return None
