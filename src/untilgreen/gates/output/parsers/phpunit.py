"""PHPUnit: `There were 3 failures:`, then numbered tests, then a line of counts."""

from __future__ import annotations

from collections.abc import Sequence

from untilgreen.core.values.model import Finding
from untilgreen.core.values.units import several
from untilgreen.gates.output.parsers.findings import finding_about, paragraph, runner_result
from untilgreen.gates.output.tool_result import ToolResult
from untilgreen.regex import regex

TOOL = "phpunit"
_BANNER = regex(r"PHPUnit \d\S{0,40} by Sebastian Bergmann")
_SECTION = regex(r"There (?:was|were) \d{1,9} (?:PHPUnit |PHP )?([a-z ]{1,40}):$")
_ENTRY = regex(r"\d{1,9}\) (\S.*)$")
_DATA_SET = regex(r"( with data set (?:#\d{1,9}|\"[^\"]{0,200}\"))(?: \(.*)?$")
_PLACE = regex(r"(\S{1,500}\.php):(\d{1,7})$")
_COUNTS = regex(r"Tests: \d{1,9}, Assertions: \d{1,9}(?:, [A-Z][A-Za-z ]{1,40}: \d{1,9})*\.$")
_COUNT = regex(r"([A-Z][A-Za-z ]{1,40}): (\d{1,9})")
_OK = regex(r"OK \((\d{1,9}) tests?, \d{1,9} assertions?\)$")
_HEADING = regex(r"\S.{0,200} \(([\w\\]{1,300})\)$")
_CROSS = regex(r" [✘✗x] (\S.{0,300}?)(?: {2}\d{1,9}(?:\.\d{1,9})? ms| \[\d{1,9}(?:\.\d{1,9})? ms\])?$")
_MARK = regex(r" [✔✘✗] \S")
_BESIDE = regex(r"\s{0,9}[│|┐├┴┊╵╷]\s{0,9}(\S.*)$")
_PROGRESS = regex(r"([.FEWRSIDNP]{1,200})(?: {1,80}\d{1,9} / \d{1,9} \([ \d]{1,3}%\))?$")
_EMPTY = ("No tests executed!", "No tests found in class")
_RED = ("failure", "error")


def read(lines: Sequence[str]) -> ToolResult | None:
    """What PHPUnit says in these lines; None if it did not print them."""
    known = empty = False
    red, prose = False, ""
    counts: dict[str, int] = {}
    findings: list[Finding] = []
    for number, line in enumerate(lines):
        if _BANNER.match(line) or line.startswith(_EMPTY):
            known, empty = True, empty or line.startswith(_EMPTY)
        elif (section := _SECTION.match(line)) is not None:
            red = section[1].startswith(_RED)
        elif _COUNTS.match(line):
            known, red = True, False
            for word, count in _COUNT.findall(line):
                counts[word] = counts.get(word, 0) + int(count)
        elif (ok := _OK.match(line)) is not None:
            known, counts = True, {"Tests": int(ok[1])}
        elif (heading := _HEADING.match(line)) is not None:
            prose = heading[1]
        elif prose and (cross := _CROSS.match(line)) is not None:
            findings.append(_told(prose, cross[1], lines, number + 1))
        elif red and (entry := _ENTRY.match(line)) is not None:
            findings.append(_finding(entry[1], lines, number + 1))
        elif line[:1].strip() and _MARK.match("".join(lines[number + 1 : number + 2])):
            prose = line  # a class outside any namespace
    if not (counts or empty):
        return _unfinished(lines) if known else None
    failed = counts.get("Failures", 0) + counts.get("Errors", 0)
    skipped = counts.get("Skipped", 0) + counts.get("Incomplete", 0)
    passed = max(counts.get("Tests", 0) - failed - skipped, 0)
    return runner_result(TOOL, findings, passed=passed, failed=failed, skipped=skipped, empty=empty)


def _unfinished(lines: Sequence[str]) -> ToolResult:
    """A test that calls `exit` ends PHPUnit with that code, before it counts anything."""
    start = next(number for number, line in enumerate(lines) if _BANNER.match(line) or not number)
    found = [mark[1] for line in lines[start + 1 :] if (mark := _PROGRESS.match(line)) is not None]
    marks = "".join(found) or "." * sum(bool(_MARK.match(line)) for line in lines)
    if not marks:
        return ToolResult(tool=TOOL)
    told = f"It ended after {several(len(marks), 'test')}, before its summary."
    failed = marks.count("F") + marks.count("E")
    return runner_result(
        TOOL, [finding_about("unfinished", told)], passed=marks.count("."), failed=failed + 1
    )


def _told(group: str, name: str, lines: Sequence[str], number: int) -> Finding:
    """A finding of `--testdox`, which describes tests in prose."""
    beside = [found[1] for line in lines[number : number + 20] if (found := _BESIDE.match(line)) is not None]
    place = next((found for said in beside if (found := _PLACE.match(said)) is not None), None)
    file, row = (place[1], int(place[2])) if place else (None, None)
    return finding_about(f"{group}::{name}", beside[0] if beside else "", file, row)


def _finding(name: str, lines: Sequence[str], number: int) -> Finding:
    """A finding named after its test and data set, but not the data in it."""
    place = None
    for line in lines[number : number + 60]:
        if _ENTRY.match(line) or (place := _PLACE.match(line)) is not None:
            break
    file, row = (place[1], int(place[2])) if place else (None, None)
    return finding_about(_DATA_SET.sub(r"\1", name), paragraph(lines, number), file, row)
