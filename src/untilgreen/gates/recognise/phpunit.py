"""PHPUnit: `There were 3 failures:`, then numbered tests, then a line of counts."""

from __future__ import annotations

import re
from collections.abc import Sequence

from untilgreen.core.model import Finding
from untilgreen.gates.recognise.shape import first_words, named, tallied
from untilgreen.gates.seen import Seen

TOOL = "phpunit"
_BANNER = re.compile(r"PHPUnit \d\S{0,40} by Sebastian Bergmann")
_SECTION = re.compile(r"There (?:was|were) \d{1,9} (?:PHPUnit |PHP )?([a-z ]{1,40}):$")
_ENTRY = re.compile(r"\d{1,9}\) (\S.*)$")
_DATA_SET = re.compile(r"( with data set (?:#\d{1,9}|\"[^\"]{0,200}\"))(?: \(.*)?$")
_PLACE = re.compile(r"(\S{1,500}\.php):(\d{1,7})$")
_COUNTS = re.compile(r"Tests: \d{1,9}, Assertions: \d{1,9}(?:, [A-Z][A-Za-z ]{1,40}: \d{1,9})*\.$")
_COUNT = re.compile(r"([A-Z][A-Za-z ]{1,40}): (\d{1,9})")
_OK = re.compile(r"OK \((\d{1,9}) tests?, \d{1,9} assertions?\)$")
_HEADING = re.compile(r"\S.{0,200} \(([\w\\]{1,300})\)$")
_CROSS = re.compile(r" [✘✗x] (\S.{0,300}?)(?: {2}\d{1,9}(?:\.\d{1,9})? ms| \[\d{1,9}(?:\.\d{1,9})? ms\])?$")
_BESIDE = re.compile(r"\s{0,9}[│|┐├┴┊╵╷]\s{0,9}(\S.*)$")
_EMPTY = ("No tests executed!", "No tests found in class")
_RED = ("failure", "error")


def read(lines: Sequence[str]) -> Seen | None:
    """What PHPUnit says in these lines; None where it did not print them."""
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
            findings.append(_complaint(entry[1], lines, number + 1))
    if not known:
        return None
    failed = counts.get("Failures", 0) + counts.get("Errors", 0)
    skipped = counts.get("Skipped", 0) + counts.get("Incomplete", 0)
    passed = max(counts.get("Tests", 0) - failed - skipped, 0)
    return tallied(TOOL, findings, passed=passed, failed=failed, skipped=skipped, empty=empty)


def _told(group: str, name: str, lines: Sequence[str], number: int) -> Finding:
    """A complaint of `--testdox`, which tells tests in prose."""
    beside = [found[1] for line in lines[number : number + 20] if (found := _BESIDE.match(line)) is not None]
    place = next((found for said in beside if (found := _PLACE.match(said)) is not None), None)
    file, row = (place[1], int(place[2])) if place else (None, None)
    return named(f"{group}::{name}", beside[0] if beside else "", file, row)


def _complaint(name: str, lines: Sequence[str], number: int) -> Finding:
    """The name without the data that its data set holds."""
    place = None
    for line in lines[number : number + 60]:
        if _ENTRY.match(line) or (place := _PLACE.match(line)) is not None:
            break
    file, row = (place[1], int(place[2])) if place else (None, None)
    return named(_DATA_SET.sub(r"\1", name), first_words(lines, number), file, row)
