"""vitest: ` FAIL  file > suite > test` below a ruler, and counts in two lines at the end."""

from __future__ import annotations

from collections.abc import Sequence

from untilgreen.core.values.model import Finding
from untilgreen.gates.output.parsers.findings import counts_in, finding_about, paragraph, runner_result
from untilgreen.gates.output.tool_result import ToolResult
from untilgreen.regex import regex

TOOL = "vitest"
_RULER = regex(r"⎯{2,200} (Failed Tests|Failed Suites|Unhandled \w{1,30}) ?\d{0,9} ?⎯{1,200}$")
_FAIL = regex(r" {0,3}FAIL {1,3}(?:\|[^|]{1,100}\| {1,3})?(\S.*)$")
_SUITE = regex(r"(\S{1,500}) \[ [^\[\]]{1,500} \]$")
_COUNTS = regex(r" *(Test Files|Tests) {2}\S.*\(\d{1,9}\)$")
_NO_COUNT = regex(r" *Tests {2}no tests$")
_EMPTY = ("No test files found, exiting with code", "No test suite found in file")


def read(lines: Sequence[str]) -> ToolResult | None:
    """What vitest says in these lines; None if it did not print them."""
    findings: list[Finding] = []
    suites: set[str] = set()
    counts: dict[str, int] = {}
    section, known, empty = "", False, False
    for number, line in enumerate(lines):
        if (ruler := _RULER.match(line)) is not None:
            section, known = ruler[1], True
            if section.startswith("Unhandled ") and section != "Unhandled Errors":  # a mere heading
                said = paragraph(lines, number + 1)
                findings.append(finding_about(f"{section}: {said.partition(chr(10))[0]}", said))
        elif section and (fail := _FAIL.match(line)) is not None:
            suite = _SUITE.match(fail[1])
            name = suite[1] if suite else fail[1]
            suites.update([name] if suite else [])
            findings.append(finding_about(name, _why(lines, number), name.partition(" > ")[0]))
        elif (counted := _COUNTS.match(line)) is not None:
            known = True
            counts = counts_in(line) if counted[1] == "Tests" else counts
        elif line.startswith(_EMPTY) or _NO_COUNT.match(line):
            known = empty = True
    if not known:
        return None
    return runner_result(
        TOOL,
        findings,
        passed=counts.get("passed", 0),
        failed=counts.get("failed", 0) + len(suites),
        skipped=counts.get("skipped", 0) + counts.get("todo", 0),
        empty=empty,
    )


def _why(lines: Sequence[str], number: int) -> str:
    """The words below the name; several names may share one error."""
    after = number + 1
    while after < min(len(lines), number + 20) and _FAIL.match(lines[after]):
        after += 1
    return paragraph(lines, after).partition("\n\u276f ")[0]
