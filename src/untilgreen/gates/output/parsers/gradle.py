"""gradle: `ATest > adds() FAILED`, `5 tests completed, 1 failed`, `Execution failed for task ':test'`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from untilgreen.core.values.model import Finding
from untilgreen.gates.output.parsers.findings import (
    finding_about,
    finding_at,
    linter_result,
    paragraph,
    runner_result,
)
from untilgreen.gates.output.tool_result import ToolResult
from untilgreen.regex import regex

TOOL = "gradle"
_OWN = regex(r"> Task :\S|BUILD (?:SUCCESSFUL|FAILED) in |FAILURE: Build failed with an exception\.$")
_TEST = regex(r"(\S.{0,500}? > \S.{0,500}?) (PASSED|FAILED|SKIPPED)$")
_OUTCOMES = (" PASSED", " FAILED", " SKIPPED")
_COUNTS = regex(r"(\d{1,9}) tests? completed(?:, (\d{1,9}) failed)?(?:, (\d{1,9}) skipped)?$")
_TASK = regex(r"Execution failed for task '(:\S{1,200})'\.$")
_TESTED = regex(r"(?:> Task )?:(?:\S{1,200}:)?\w{0,100}[tT]est(?: UP-TO-DATE| FROM-CACHE)?$")
_GREEN = regex(r"BUILD SUCCESSFUL in ")
_KOTLIN = regex(r"e: (?:file://)?(\S{1,500}?\.kts?):(?: \((\d{1,7}), \d{1,7}\):|(\d{1,7}):\d{1,7}) (\S.*)$")
_JAVA = regex(r"(?::\w{1,100}(?=/))?(\S{1,500}\.java):(\d{1,7}): error: (\S.*)$")
"""Older versions print the name of the task before it, on the same line."""
_WRONG = "* What went wrong:"
_EMPTY = "> No tests found for given includes: "


def read(lines: Sequence[str]) -> ToolResult | None:
    """What gradle, or Kotlin's compiler, says in these lines; None if neither printed them."""
    known = empty = False
    tests: dict[str, str] = {}
    said: dict[str, str] = {}
    counts: re.Match[str] | None = None
    compiled: list[Finding] = []
    tasks: list[Finding] = []
    for number, line in enumerate(lines):
        if line.endswith(_OUTCOMES) and (test := _TEST.match(line)) is not None:
            tests[test[1]] = test[2]
            said[test[1]] = paragraph(lines, number + 1, 3)
        elif (counted := _COUNTS.match(line)) is not None:
            known, counts = True, counted
        elif (place := _KOTLIN.match(line)) is not None:
            known = True
            compiled.append(finding_at(place[1], int(place[2] or place[3]), place[4]))
        elif (java := _JAVA.match(line)) is not None:
            compiled.append(finding_at(java[1], int(java[2]), java[3]))
        elif (task := _TASK.match(line)) is not None:
            tasks.append(finding_about(task[1], paragraph(lines, number + 1, 3).lstrip("> ")))
        elif line.startswith(_EMPTY):
            empty = True
        elif _OWN.match(line):
            known = True
    if not known:
        return None
    if empty and not tests:
        return runner_result(TOOL, [], empty=True)
    red = [finding_about(name, said[name]) for name, word in tests.items() if word == "FAILED"]
    if not (tests or counts):
        found = compiled or tasks or _broken(lines)
        return _uncounted(lines) or linter_result(TOOL, found, certain=bool(found))
    failed = max(len(red), int(counts[2] or 0) if counts else 0)
    skipped = max(list(tests.values()).count("SKIPPED"), int(counts[3] or 0) if counts else 0)
    ran = max(len(tests), int(counts[1]) if counts else 0)
    findings = red or compiled or tasks
    return runner_result(
        TOOL, findings, passed=max(ran - failed - skipped, 0), failed=failed, skipped=skipped
    )


def _broken(lines: Sequence[str]) -> list[Finding]:
    """What keeps gradle from running any task."""
    told = [paragraph(lines, number + 1, 3) for number, line in enumerate(lines) if line == _WRONG]
    return [finding_about("build", said) for said in told]


def _uncounted(lines: Sequence[str]) -> ToolResult | None:
    """A green build says that its tests ran, but not how many."""
    tested = any(_TESTED.match(line) for line in lines)
    return ToolResult(tool=TOOL, uncounted=True) if tested and any(map(_GREEN.match, lines)) else None
