"""node's own test runner in its `spec` form: `✖ name (1.2ms)`, and counts at the end."""

from __future__ import annotations

import re
from collections.abc import Sequence

from untilgreen.core.model import Finding
from untilgreen.gates.recognise.shape import first_words, named, tallied
from untilgreen.gates.seen import Seen

TOOL = "node"
_COUNT = re.compile(r"\u2139 (tests|pass|fail|cancelled|skipped|todo) (\d{1,9})$")
_FAILED = re.compile(r"( {0,200})✖ (\S.*)$")
_OPEN = re.compile(r"( {0,200})▶ (\S.*)$")
_DURATION = re.compile(r" \(\d{1,12}(?:\.\d{1,12})?ms\)(?: # .*)?$")
_LIST = "✖ failing tests:"
_STEP = 2
_PLACE = re.compile(r"test at ([^\s].{0,500}):(\d{1,7}):\d{1,7}$")


def read(lines: Sequence[str]) -> Seen | None:
    """What node's runner says in these lines; None where it did not print them in this form."""
    counts: dict[str, int] = {}
    findings: list[Finding] = []
    path: list[str] = []
    for number, line in enumerate(lines):
        if (count := _COUNT.match(line)) is not None:
            counts[count[1]] = counts.get(count[1], 0) + int(count[2])
        elif counts:
            continue
        elif (opened := _OPEN.match(line)) is not None:
            path = [*path[: len(opened[1]) // _STEP], _DURATION.sub("", opened[2])]
        elif (failed := _FAILED.match(line)) is not None and _DURATION.search(line[-100:]):
            depth, name = len(failed[1]) // _STEP, _DURATION.sub("", failed[2])
            if name in path[depth : depth + 1]:  # the end of a suite whose tests have been named
                del path[depth:]
            else:
                findings.append(named(" > ".join([*path[:depth], name]), first_words(lines, number + 1, 5)))
    if not {"tests", "pass", "fail"} <= counts.keys():
        return None
    return _account(findings or _listed(lines), counts)


def _listed(lines: Sequence[str]) -> list[Finding]:
    """The list at the end, where a reporter printed nothing before it or suites failed by themselves."""
    if _LIST not in lines:
        return []
    findings = []
    place = None
    for number in range(lines.index(_LIST) + 1, len(lines)):
        if (at := _PLACE.match(lines[number])) is not None:
            place = at
        elif place and (failed := _FAILED.match(lines[number])) is not None:
            name = _DURATION.sub("", failed[2])
            findings.append(named(name, first_words(lines, number + 1, 5), place[1], int(place[2])))
            place = None
    return findings


def _account(findings: list[Finding], counts: dict[str, int]) -> Seen:
    return tallied(
        TOOL,
        findings,
        passed=counts["pass"],
        failed=counts["fail"] + counts.get("cancelled", 0),
        skipped=counts.get("skipped", 0) + counts.get("todo", 0),
        empty=not counts["tests"],
    )
