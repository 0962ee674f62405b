"""deno test: `adds ... ok (1ms)`, `totals => ./cart_test.js:4:6` below ERRORS, a line of counts."""

from __future__ import annotations

from collections.abc import Sequence

from untilgreen.core.values.model import Finding
from untilgreen.core.values.units import several
from untilgreen.gates.output.parsers.findings import finding_about, finding_at, linter_result, runner_result
from untilgreen.gates.output.tool_result import ToolResult
from untilgreen.regex import regex

TOOL = "deno"
_RUNNING = regex(r"running \d{1,9} tests? from (\S.*)$")
_MARK = regex(r"\S.* \.\.\. (ok|FAILED|ignored|cancelled) \(\d[^()]{0,20}\)$")
_COUNTS = regex(r"(?:ok|FAILED) \| (\d{1,9}) passed.{0,60} \| (\d{1,9}) failed(.{0,200}) \(\d[^()]{0,20}\)$")
_IGNORED = regex(r"\| (\d{1,9}) ignored")
_FAILED = regex(r"(\S.*) => (\S.{0,500}):(\d{1,7}):\d{1,7}$")
_UNCAUGHT = regex(r"(\S.{0,500}) \(uncaught error\)$")
_SECTIONS = ("ERRORS", "FAILURES")
_TYPE = regex(r"(?:error: )?(TS\d{4,6}) \[ERROR\]: (\S.*)$")
_ERROR = regex(r"error: (\S.*)$")
_PLACE = regex(r" {2,8}at file://(\S{1,500}):(\d{1,7}):\d{1,7}$")
_EMPTY = ("error: No test modules found",)
_LOOK = 12


def read(lines: Sequence[str]) -> ToolResult | None:
    """What deno says in these lines; None if it did not print them."""
    findings: list[Finding] = []
    counts: tuple[int, int, int] | None = None
    marks: list[str] = []
    running = section = empty = False
    for number, line in enumerate(lines):
        if _RUNNING.match(line):
            running = True
        elif line.strip() in _SECTIONS:
            section = True
        elif (found := _COUNTS.match(line)) is not None:
            ignored = _IGNORED.search(found[3])
            counts, section = (int(found[1]), int(found[2]), int(ignored[1]) if ignored else 0), False
        elif section:
            findings += _failure(lines, number)
        elif (mark := _MARK.match(line)) is not None:
            marks.append(mark[1])
        elif line.startswith(_EMPTY):
            empty = True
    if counts is None and not (running or empty):
        return _not_loaded(lines)
    if counts is None and not empty:
        findings.append(
            finding_about("unfinished", f"It ended after {several(len(marks), 'test')}, before its summary.")
        )
    passed, failed, skipped = counts or (marks.count("ok"), 0, marks.count("ignored"))
    return runner_result(
        TOOL, findings, passed=passed, failed=failed, skipped=skipped, empty=empty or counts is not None
    )


def _failure(lines: Sequence[str], number: int) -> list[Finding]:
    if (failed := _FAILED.match(lines[number])) is not None:
        file, name, row = failed[2].removeprefix("./"), failed[1], int(failed[3])
    elif (uncaught := _UNCAUGHT.match(lines[number])) is not None:
        file, name, row = uncaught[1].removeprefix("./"), "uncaught error", None
    else:
        return []
    said = _ERROR.match("".join(lines[number + 1 : number + 2]))
    return [finding_about(f"{file}: {name}", said[1] if said else "", file, row)]


def _not_loaded(lines: Sequence[str]) -> ToolResult | None:
    """Errors of types and syntax, which are checked before the first test runs."""
    found: list[Finding] = []
    for number, line in enumerate(lines):
        told = _TYPE.match(line)
        said = _ERROR.match(line) if told is None else None
        if told is None and said is None:
            continue
        place = next(filter(None, map(_PLACE.match, lines[number + 1 : number + _LOOK])), None)
        if place is not None and told is not None:
            found.append(finding_at(place[1], int(place[2]), told[2], told[1]))
        elif place is not None and said is not None:
            found.append(finding_at(place[1], int(place[2]), said[1]))
    return linter_result(TOOL, found) if found else None
