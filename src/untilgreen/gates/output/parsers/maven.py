"""maven, and surefire in it: `[ERROR] a.BTest.c ... <<< FAILURE!`, `[ERROR] A.java:[3,4] message`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

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

TOOL = "maven"
_LEVEL = regex(r"\[(INFO|WARNING|ERROR)\] ?(.*)$")
_OWN = regex(
    r"Scanning for projects\.\.\.$|BUILD (?:SUCCESS|FAILURE)$"
    r"|-{3} \S{1,200}:\S{1,100}:\S{1,100} \(.{1,200}\) @ "
    r"|Failed to execute goal |COMPILATION ERROR :|The build could not read "
)
_COUNTS = regex(r"Tests run: (\d{1,9}), Failures: (\d{1,9}), Errors: (\d{1,9}), Skipped: (\d{1,9})(.*)$")
_TEST = regex(r"(\S.{0,500}?) {1,3}(?:-- )?Time elapsed: .{1,40}<<< (?:FAILURE|ERROR)!")
_WITHIN = regex(r".* --? in ([\w.$]{1,300})$")
"""The end of a class's counts; below it, surefire 2.22 names methods of JUnit 5 without their class."""
_OLD_NAME = regex(r"([^\s()]{1,300})\(([\w.$]{1,300})\)$")
_LISTED = regex(r" {2}([\w.$]{1,300}):(\d{1,7}) (\S.*)$")
_PLACE = regex(r"(\S{1,500}):\[(\d{1,7}),\d{1,7}\] (\S.*)$")
_LINE = regex(r"(\S{1,500}\.\w{1,10}):(\d{1,7}): (\S.*)$")
_GOAL = regex(r"Failed to execute goal (?:(\S{1,300}) (?:\(.{1,100}?\) )?)?on project (\S{1,100}): (\S.*)$")
_BROKEN = regex(r"BUILD FAILURE$|The build could not read ")
_RULE = regex(r"Rule \d{1,5}: (\S{1,300}) failed with message:$")
"""A rule of the enforcer plugin; what it demands is on the next line."""
_VERSION = regex(r"(?<=:)\d[^:]{0,40}(?=:)")
_OLD_HEAD = " T E S T S"
_EMPTY = ("No tests to run.", "There are no tests to run.")
_CRASH = "The forked VM terminated without "
_CRASHED = "Crashed tests:"
_CLASS = regex(r"[\w$]{1,200}(?:\.[\w$]{1,200}){0,30}$")
_NONE_EXECUTED = ("No tests were executed!", "No tests matching pattern")


@dataclass
class _Account:
    known: bool = False
    tested: list[Finding] = field(default_factory=list)
    listed: list[Finding] = field(default_factory=list)
    compiled: list[Finding] = field(default_factory=list)
    goals: list[Finding] = field(default_factory=list)
    warnings: list[Finding] = field(default_factory=list)
    ran: list[int] = field(default_factory=lambda: [0, 0, 0, 0])
    classes: list[int] = field(default_factory=lambda: [0, 0, 0, 0])
    empty: bool = False
    broken: bool = False
    first_error: str = ""
    within: str = ""
    crash: str = ""
    crashing: bool = False
    """Whether the next lines name the classes that were running when surefire's process ended."""
    bare: bool = False
    """Whether lines have no level, as before surefire 2.19."""


def read(lines: Sequence[str]) -> ToolResult | None:
    """What maven says in these lines; None if it did not print them."""
    account = _Account()
    for number, line in enumerate(lines):
        if line.startswith("[") and (levelled := _LEVEL.match(line)) is not None:
            _line(account, levelled[1], levelled[2], lines, number)
        elif line == _OLD_HEAD:
            account.bare = True
        elif account.bare and (_COUNTS.match(line) or _TEST.match(line)):
            _line(account, "ERROR", line, lines, number)
    return _seen(account) if account.known else None


def _line(account: _Account, level: str, said: str, lines: Sequence[str], number: int) -> None:
    account.known = account.known or _OWN.match(said) is not None
    account.broken = account.broken or _BROKEN.match(said) is not None
    if (counts := _COUNTS.match(said)) is not None:
        account.known = True
        into = account.classes if "Time elapsed" in counts[5] else account.ran
        into[:] = [before + int(now) for before, now in zip(into, counts.groups()[:4], strict=True)]
        within = _WITHIN.match(counts[5])
        account.within = within[1] if within else ""
    elif said in _EMPTY:
        account.known = account.empty = True
    elif level == "ERROR":
        _error(account, said, lines, number)
    elif level == "WARNING" and (place := _PLACE.match(said) or _LINE.match(said)) is not None:
        account.warnings.append(finding_at(place[1], int(place[2]), place[3]))


def _error(account: _Account, said: str, lines: Sequence[str], number: int) -> None:
    account.crashing = account.crashing and _CLASS.match(said) is not None
    if account.crashing:
        account.tested.append(finding_about(said, account.crash))
    elif said == _CRASHED:
        account.crashing = True
    elif said.startswith(_CRASH):
        account.crash = said
    elif (test := _TEST.match(said)) is not None:
        account.known = True
        account.tested.append(finding_about(_name(test[1], account.within), paragraph(lines, number + 1, 2)))
    elif (place := _PLACE.match(said) or _LINE.match(said)) is not None:
        account.compiled.append(finding_at(place[1], int(place[2]), place[3]))
    elif (goal := _GOAL.match(said)) is not None:
        account.empty = account.empty or goal[3].startswith(_NONE_EXECUTED)
        name = _VERSION.sub("*", goal[1]) if goal[1] else "dependencies"
        account.goals.append(finding_about(f"{goal[2]}: {name}", goal[3]))
    elif (rule := _RULE.match(said)) is not None:
        level = _LEVEL.match(lines[number + 1]) if number + 1 < len(lines) else None
        account.compiled.append(finding_about(rule[1], level[2] if level else ""))
    elif (listed := _LISTED.match(said)) is not None:
        account.listed.append(finding_about(listed[1], listed[3], line=int(listed[2])))
    elif said and not account.first_error and not said.endswith(":"):
        account.first_error = said


def _name(told: str, within: str) -> str:
    """`a.BTest.c`, however this version of surefire spells it."""
    if (old := _OLD_NAME.match(told)) is not None:
        return f"{old[2]}.{old[1]}"
    name = told.replace("#", ".")
    return name if f"{within.rpartition('.')[2]}." in f".{name}" else f"{within}.{name}"


def _seen(account: _Account) -> ToolResult:
    ran, failures, errors, skipped = account.ran if any(account.ran) else account.classes
    findings = [*(account.tested or account.listed), *account.compiled]
    if account.broken and not (findings or account.goals or account.empty):
        findings = [finding_about("build", account.first_error)]
    if not ran and not account.empty:
        return linter_result(TOOL, findings or account.goals, account.warnings, certain=True)
    if account.empty and not ran and not findings:
        return runner_result(TOOL, [], empty=True)
    return runner_result(
        TOOL,
        findings or account.goals,
        passed=max(ran - failures - errors - skipped, 0),
        failed=failures + errors,
        skipped=skipped,
    )
