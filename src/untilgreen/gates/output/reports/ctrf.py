"""CTRF: one JSON object for a test run, whichever runner it was."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from untilgreen.core.values.model import Finding
from untilgreen.gates.output.plain_text import MakeRelative
from untilgreen.gates.output.tool_result import (
    MOST_FINDINGS,
    ToolResult,
    distinct,
    first_lines,
    no_tests,
    stable_name,
)

TOOL = "ctrf"
_PASSED = "passed"
_LEFT_OUT = frozenset({"skipped", "pending"})


class _Test(Struct, frozen=True, gc=False):
    name: str
    status: str
    message: str | None = None
    suite: str | list[str] | None = None
    filePath: str | None = None
    line: int | None = None


class _Summary(Struct, frozen=True):
    tests: int = 0
    failed: int = 0


class _Results(Struct, frozen=True):
    tests: list[_Test]
    summary: _Summary = _Summary()


class Document(Struct, frozen=True):
    """The parts of a report that say how the tests went."""

    results: _Results


def seen(report: Document, make_relative: MakeRelative) -> ToolResult:
    """What the report tells; a status that is neither passed nor left out counts as failed."""
    tests, summary = report.results.tests, report.results.summary
    passed = sum(test.status == _PASSED for test in tests)
    skipped = sum(test.status in _LEFT_OUT for test in tests)
    failed = max(len(tests) - passed - skipped, summary.failed)
    total = max(passed + failed + skipped, summary.tests)
    return ToolResult(
        tool=TOOL,
        findings=distinct(_findings(tests, make_relative)) if total else (no_tests("The report's tool"),),
        passed=passed,
        failed=failed,
        skipped=skipped,
        total=total,
        no_tests=not total,
    )


def _findings(tests: list[_Test], make_relative: MakeRelative) -> Iterator[Finding]:
    found = 0
    for test in tests:
        if test.status != _PASSED and test.status not in _LEFT_OUT and found < MOST_FINDINGS:
            found += 1
            yield _finding(test, make_relative)


def _finding(test: _Test, make_relative: MakeRelative) -> Finding:
    suite = " > ".join(test.suite) if isinstance(test.suite, list) else test.suite
    name = " > ".join(filter(None, (suite, test.name)))
    file = make_relative(test.filePath or "")
    told = make_relative(f"{file}: {name}" if file else name)
    return Finding(
        id=stable_name(told) or "unnamed test",
        message=first_lines(make_relative(test.message or test.status)),
        file=file or None,
        line=test.line,
    )
