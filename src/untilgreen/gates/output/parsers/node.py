"""node's own test runner in its `spec` format: `✖ name (1.2ms)`, and counts at the end."""

from __future__ import annotations

from collections.abc import Sequence

from untilgreen.core.values.model import Finding
from untilgreen.gates.output.parsers.findings import finding_about, paragraph, runner_result
from untilgreen.gates.output.tool_result import ToolResult
from untilgreen.regex import regex

TOOL = "node"
_COUNT = regex(r"\u2139 (tests|pass|fail|cancelled|skipped|todo) (\d{1,9})$")
_FAILED = regex(r"( {0,200})✖ (\S.*)$")
_OPEN = regex(r"( {0,200})▶ (\S.*)$")
_DURATION = regex(r" \(\d{1,12}(?:\.\d{1,12})?ms\)(?: # .*)?$")
_LIST = "✖ failing tests:"
_DOT_LIST = "Failed tests:"
_GREEN_DOTS = regex(r"\.{1,500}$")
_DOTS = regex(r"[.X]{1,500}$")
_ROW = 20
"""Dots per row if the output is not a terminal."""
_OF_A_SUITE = regex(r"'\d{1,9} subtests? failed'")
_STEP = 2
_PLACE = regex(r"test at ([^\s].{0,500}):(\d{1,7}):\d{1,7}$")


def read(lines: Sequence[str]) -> ToolResult | None:
    """What node's runner says in these lines; None if it did not print them in this format."""
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
                findings.append(
                    finding_about(" > ".join([*path[:depth], name]), paragraph(lines, number + 1, 5))
                )
    if not {"tests", "pass", "fail"} <= counts.keys():
        return _read_dots(lines)
    return _account(findings or _listed(lines), counts)


def _read_dots(lines: Sequence[str]) -> ToolResult | None:
    """What the `dot` reporter prints: a mark for each test, then the tests that failed."""
    if _DOT_LIST not in lines:
        return _read_green_dots(lines)
    start = lines.index(_DOT_LIST)
    marks = "".join(line for line in lines[:start] if _DOTS.match(line))
    failures = {
        number: _DURATION.sub("", failed[2])
        for number, line in enumerate(lines[start:], start)
        if (failed := _FAILED.match(line)) is not None and _DURATION.search(line[-100:])
    }
    ends = [*failures, len(lines)][1:]
    told = [
        finding_about(name, paragraph(lines, number + 1, min(5, end - number - 1)))
        for (number, name), end in zip(failures.items(), ends, strict=True)
    ]
    findings = [each for each in told if not _OF_A_SUITE.fullmatch(each.message)]
    if not (marks and findings):
        return None
    suites = len(told) - len(findings)
    return runner_result(TOOL, findings, passed=marks.count("."), failed=marks.count("X") - suites)


def _read_green_dots(lines: Sequence[str]) -> ToolResult | None:
    """Dots and nothing else, which the `dot` reporter prints if all tests pass, also one for each suite.

    All rows but the last are full, and that ends in a newline: other runners that die leave part of a row.
    """
    told = [line for line in lines if line.strip()]
    if not told or lines[-1] or not all(_GREEN_DOTS.match(line) for line in told):
        return None
    if len({len(line) for line in told[:-1]} - {_ROW}) > 0 or len(told[-1]) > _ROW:
        return None
    return runner_result(TOOL, [], passed=sum(map(len, told)))


def _listed(lines: Sequence[str]) -> list[Finding]:
    """The failures listed at the end, if a reporter printed none before or suites failed by themselves."""
    if _LIST not in lines:
        return []
    findings = []
    place = None
    for number in range(lines.index(_LIST) + 1, len(lines)):
        if (at := _PLACE.match(lines[number])) is not None:
            place = at
        elif place and (failed := _FAILED.match(lines[number])) is not None:
            name = _DURATION.sub("", failed[2])
            findings.append(finding_about(name, paragraph(lines, number + 1, 5), place[1], int(place[2])))
            place = None
    return findings


def _account(findings: list[Finding], counts: dict[str, int]) -> ToolResult:
    return runner_result(
        TOOL,
        findings,
        passed=counts["pass"],
        failed=counts["fail"] + counts.get("cancelled", 0),
        skipped=counts.get("skipped", 0) + counts.get("todo", 0),
        empty=not counts["tests"],
    )
