"""ava: `✘ [fail]: totals`, each failure explained below a ruler, `1 test failed` at the end."""

from __future__ import annotations

from collections.abc import Sequence

from untilgreen.core.values.model import Finding
from untilgreen.gates.output.parsers.findings import finding_about, paragraph, runner_result
from untilgreen.gates.output.tool_result import ToolResult
from untilgreen.regex import regex

TOOL = "ava"
_FAILED = regex(r" {2}✘ \[fail\]: (\S.*)$")
_PASSED = regex(r" {2}✔ \S")
_SKIPPED = regex(r" {2}- \[(?:skip|todo)\] \S")
_COUNTS = regex(
    r" {2}\d{1,9} (?:(?:tests?|hooks?) (?:failed|passed)|(?:uncaught exception|unhandled rejection)s?)$"
)
_UNCAUGHT = regex(r" {2}(Uncaught exception|Unhandled rejection) in (\S.*)$")
_LEFT = regex(r" {2}✘ (\d{1,9} tests? remaining) in (\S.*)$")
_EMPTY = regex(
    r" {2}✘ (?:No tests found in \S|Couldn.t find any (?:matching tests|files to test)|Based on your config)"
)
_PLACE = regex(r" {2}(\S.{0,500}\.[cm]?[jt]sx?):(\d{1,7})$")
_CODE = regex(r" {1,8}\d{1,7}: ")
_RULER = "  ─"
_LOOK = 40


def read(lines: Sequence[str]) -> ToolResult | None:
    """What ava says in these lines; None if it did not print them."""
    ruler = next((number for number, line in enumerate(lines) if line == _RULER), len(lines))
    findings: list[Finding] = []
    passed = failed = skipped = 0
    known = empty = False
    for number, line in enumerate(lines):
        if (red := _FAILED.match(line)) is not None:
            findings.append(_finding(red[1], lines, ruler))
            failed += 1
        elif (uncaught := _UNCAUGHT.match(line)) is not None:
            said = _said(lines, number + 1)
            findings.append(finding_about(f"{uncaught[2]}: {uncaught[1].lower()}", said, uncaught[2]))
        elif (left := _LEFT.match(line)) is not None:
            findings.append(finding_about(f"{left[2]}: unfinished", left[1], left[2]))
        elif _COUNTS.match(line):
            known = number > ruler
        elif _EMPTY.match(line):
            known = empty = True
        elif number < ruler:
            passed += bool(_PASSED.match(line))
            skipped += bool(_SKIPPED.match(line))
    if not known:
        return None
    return runner_result(TOOL, findings, passed=passed, failed=failed, skipped=skipped, empty=empty)


def _finding(told: str, lines: Sequence[str], ruler: int) -> Finding:
    """The test's name may be followed by its message here; below the ruler it stands alone."""
    names = {line.strip(): number for number, line in enumerate(lines[ruler:], ruler)}
    name = max((each for each in names if told.startswith(each)), key=len, default="")
    if not name:
        return finding_about(told)
    after = names[name] + 1
    place = next(filter(None, map(_PLACE.match, lines[after : after + 3])), None)
    file, row = (place[1], int(place[2])) if place else (None, None)
    return finding_about(name, _said(lines, after), file, row)


def _said(lines: Sequence[str], start: int) -> str:
    """The words after the place and the lines of code around it."""
    for number, line in enumerate(lines[start : start + _LOOK], start):
        if line.strip() and not _PLACE.match(line) and not _CODE.match(line):
            said = paragraph(lines, number)
            return f"{said}\n{paragraph(lines, number + 1)}" if said.endswith("):") else said
    return ""
