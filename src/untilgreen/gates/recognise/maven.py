"""maven, and surefire in it: `[ERROR] a.BTest.c ... <<< FAILURE!`, `[ERROR] A.java:[3,4] message`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from untilgreen.core.model import Finding
from untilgreen.gates.recognise.shape import first_words, linted, named, placed, tallied
from untilgreen.gates.seen import Seen

TOOL = "maven"
_LEVEL = re.compile(r"\[(INFO|WARNING|ERROR)\] ?(.*)$")
_OWN = re.compile(
    r"Scanning for projects\.\.\.$|BUILD (?:SUCCESS|FAILURE)$"
    r"|-{3} \S{1,200}:\S{1,100}:\S{1,100} \(.{1,200}\) @ "
    r"|Failed to execute goal |COMPILATION ERROR :"
)
_COUNTS = re.compile(r"Tests run: (\d{1,9}), Failures: (\d{1,9}), Errors: (\d{1,9}), Skipped: (\d{1,9})(.*)$")
_TEST = re.compile(r"(\S.{0,500}?) {1,3}(?:-- )?Time elapsed: .{1,40}<<< (?:FAILURE|ERROR)!")
_OLD_NAME = re.compile(r"([^\s()]{1,300})\(([\w.$]{1,300})\)$")
_LISTED = re.compile(r" {2}([\w.$]{1,300}):(\d{1,7}) (\S.*)$")
_PLACE = re.compile(r"(\S{1,500}):\[(\d{1,7}),\d{1,7}\] (\S.*)$")
_LINE = re.compile(r"(\S{1,500}\.\w{1,10}):(\d{1,7}): (\S.*)$")
_GOAL = re.compile(r"Failed to execute goal (\S{1,300})(?: \(.{1,100}?\))? on project (\S{1,100}): (\S.*)$")
_VERSION = re.compile(r"(?<=:)\d[^:]{0,40}(?=:)")
_OLD_HEAD = " T E S T S"
_EMPTY = ("No tests to run.", "There are no tests to run.")
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
    bare: bool = False
    """Surefire before 2.19 prints without levels."""


def read(lines: Sequence[str]) -> Seen | None:
    """What maven says in these lines; None where it did not print them."""
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
    if (counts := _COUNTS.match(said)) is not None:
        account.known = True
        into = account.classes if "Time elapsed" in counts[5] else account.ran
        into[:] = [before + int(now) for before, now in zip(into, counts.groups()[:4], strict=True)]
    elif said in _EMPTY:
        account.known = account.empty = True
    elif level == "ERROR":
        _error(account, said, lines, number)
    elif level == "WARNING" and (place := _PLACE.match(said) or _LINE.match(said)) is not None:
        account.warnings.append(placed(place[1], int(place[2]), place[3]))


def _error(account: _Account, said: str, lines: Sequence[str], number: int) -> None:
    if (test := _TEST.match(said)) is not None:
        account.known = True
        account.tested.append(named(_name(test[1]), first_words(lines, number + 1, 2)))
    elif (place := _PLACE.match(said) or _LINE.match(said)) is not None:
        account.compiled.append(placed(place[1], int(place[2]), place[3]))
    elif (goal := _GOAL.match(said)) is not None:
        account.empty = account.empty or goal[3].startswith(_NONE_EXECUTED)
        account.goals.append(named(f"{goal[2]}: {_VERSION.sub('*', goal[1])}", goal[3]))
    elif (listed := _LISTED.match(said)) is not None:
        account.listed.append(named(listed[1], listed[3], line=int(listed[2])))


def _name(told: str) -> str:
    """`a.BTest.c`, however this version of surefire spells it."""
    old = _OLD_NAME.match(told)
    return (f"{old[2]}.{old[1]}" if old else told).replace("#", ".")


def _seen(account: _Account) -> Seen:
    ran, failures, errors, skipped = account.ran if any(account.ran) else account.classes
    findings = [*(account.tested or account.listed), *account.compiled]
    if not ran and not account.empty:
        return linted(TOOL, findings or account.goals, account.warnings)
    if account.empty and not ran and not findings:
        return tallied(TOOL, [], empty=True)
    return tallied(
        TOOL,
        findings or account.goals,
        passed=max(ran - failures - errors - skipped, 0),
        failed=failures + errors,
        skipped=skipped,
    )
