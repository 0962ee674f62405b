"""What the parsers share: findings about places and tests, results of runners and linters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from untilgreen.core.values.fingerprint import normalize
from untilgreen.core.values.model import Finding
from untilgreen.gates.output.tool_result import ToolResult, distinct, first_lines, no_tests, stable_name
from untilgreen.regex import regex

_COUNT = regex(r"(\d{1,9}) ([A-Za-z]{1,30})")

_UNREAD = regex(r"(?: {0,2}Exception during run: )?(\S{1,500}\.[cm]?[jt]sx?):(\d{1,7})$")
_UNREAD_LINES = 8


def finding_at(file: str, line: int | None, said: str, rule: str = "") -> Finding:
    """A finding about a place; the same message about another line of the file is the same finding."""
    words = normalize(said)
    told = " ".join(filter(None, (rule, words)))
    message = f"{rule}: {said}" if rule else said
    return Finding(id=stable_name(f"{file}: {told}"), message=first_lines(message), file=file, line=line)


def finding_about(name: str, said: str = "", file: str | None = None, line: int | None = None) -> Finding:
    """A finding about a test that has its own name."""
    return Finding(id=stable_name(name), message=first_lines(said), file=file, line=line)


def counts_in(line: str) -> dict[str, int]:
    """`2 failed, 3 passed` as numbers by word; if a word repeats, its last number counts."""
    return {word: int(number) for number, word in _COUNT.findall(line)}


def runner_result(
    tool: str,
    findings: Iterable[Finding],
    *,
    passed: int = 0,
    failed: int = 0,
    skipped: int = 0,
    total: int = 0,
    empty: bool = False,
) -> ToolResult:
    """The result of a test run; `empty` if the tool itself reported that there was nothing to run."""
    found = distinct(findings)
    failed = max(failed, len(found))
    nothing = empty and not (found or passed or skipped)
    return ToolResult(
        tool=tool,
        findings=(no_tests(tool),) if nothing else found,
        passed=passed,
        failed=failed,
        skipped=skipped,
        total=max(total, passed + failed + skipped),
        no_tests=nothing,
    )


def linter_result(
    tool: str, errors: Iterable[Finding], warnings: Iterable[Finding] = (), *, certain: bool = False
) -> ToolResult:
    """The result of a tool that counts no tests; warnings only if there is nothing worse.

    `certain` if no other tool can have printed this, so that its errors count whatever the exit code.
    """
    found = distinct(errors)
    return ToolResult(tool=tool, findings=found or distinct(warnings), failed=len(found) if certain else 0)


def paragraph(lines: Sequence[str], start: int, most: int = 20) -> str:
    """The first paragraph from a line on, up to a stack trace: that is where tools explain a failure."""
    said: list[str] = []
    for line in lines[start : start + most]:
        words = line.strip()
        if said and (not words or words.startswith("at ")):
            break
        if words:
            said.append(words)
    return "\n".join(said)


def unread_place(lines: Sequence[str], number: int) -> tuple[str, int] | None:
    """The file that node could not parse: named above the SyntaxError, whose frames show what loaded it."""
    for line in reversed(lines[max(0, number - _UNREAD_LINES) : number]):
        if (place := _UNREAD.match(line)) is not None:
            return place[1], int(place[2])
    return None
