"""TAP: `not ok 2 - name`, subtests four spaces further in, a plan that says how many there should be."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from untilgreen.core.values.units import several
from untilgreen.gates.output.parsers.findings import finding_about, runner_result
from untilgreen.gates.output.tool_result import LONGEST_ID, MOST_FINDINGS, ToolResult
from untilgreen.regex import regex

TOOL = "tap"
_VERSION = regex(r"TAP version 1[234]$")
_POINT = regex(r"( *)(not ok|ok)\b(?: (\d{1,9}))?(?: - | )?(.*)$")
_PLAN = regex(r"1\.\.(\d{1,9})(?: *#.*)?$")
_DIRECTIVE = regex(r" ?# *(?:skip|todo)\b", re.IGNORECASE)
_BAIL = regex(r" *Bail out! *(.*)$")
_SAID = regex(r" *(?:error|message): *(\S.*)$")
_TITLE = regex(r"# (?!Subtest: |tests |pass |fail |skip |todo |ok$)(\S.*)$")
"""A test of tape, whose points are assertions without a dash before their text."""
_TIME = regex(r" # time=\d{1,9}(?:\.\d{1,9})?m?s\b")
_OPENS, _CLOSES = " {", regex(r" *\}$")
"""A point whose subtests follow in braces, as vitest prints them."""
_VALUE = regex(r" *(?:expected|actual): +\S.*$")
_INDENT = 4
_DEEPEST = 16
_BLOCK_LINES = 2


@dataclass
class _Red:
    """A point that failed, and why."""

    name: str
    said: str = ""


@dataclass
class _Parent:
    """A point whose subtests follow it in braces."""

    depth: int
    name: str
    failed: bool
    before: int
    """How many had failed when it began."""


@dataclass
class _Level:
    """The points of one depth since the last point above them."""

    points: int = 0
    red: list[_Red] = field(default_factory=list)


@dataclass
class Account:
    """What was said so far; a point with subtests stands for them, unless it alone fails."""

    version: bool = False
    planned: int | None = None
    points: int = 0
    passed: int = 0
    skipped: int = 0
    failed: int = 0
    bailed: str | None = None
    levels: list[_Level] = field(default_factory=lambda: [_Level() for _ in range(_DEEPEST + 2)])
    open: _Red | None = None
    block: int = 0
    title: str = ""
    parents: list[_Parent] = field(default_factory=list)
    used: Counter[str] = field(default_factory=Counter)
    other: bool = False
    """Whether a line was seen that is not TAP."""

    @property
    def is_one(self) -> bool:
        """Whether this is TAP at all."""
        # TAP that was cut off before its plan has nothing but points.
        cut_off = self.points and not self.other and self.bailed is None
        declared = self.version or self.planned is not None or cut_off
        said = self.points or self.bailed is not None or self.planned == 0
        return bool(declared and said and (self.points or self.version))

    @property
    def is_whole(self) -> bool:
        """Whether all planned points were printed."""
        return self.bailed is not None or (self.planned is not None and self.planned <= self.points)

    def line(self, line: str) -> None:
        """Read one more line, without its newline."""
        if (point := _POINT.match(line)) is not None:
            self._point(point)
        elif self.block and self.open is not None:
            self.open.said += f"\n{line.strip()}"
            self.block -= 1
        elif self.open is not None and (said := _SAID.match(line)) is not None:
            self._why(said[1])
        elif self.open is not None and (value := _VALUE.match(line)) is not None:
            self.open.said = f"{self.open.said}\n{value[0].strip()}".strip()
        elif (plan := _PLAN.match(line)) is not None:
            self.planned = (self.planned or 0) + int(plan[1])
        elif _VERSION.match(line):
            self.version = True
        elif (title := _TITLE.match(line)) is not None:
            self.title = title[1]
        elif self.parents and _CLOSES.match(line):
            self._close()
        elif (bail := _BAIL.match(line)) is not None:
            self.bailed = bail[1]
        elif line.strip() and not line.startswith((" ", "#")):
            self.other = True

    def _point(self, point: re.Match[str]) -> None:
        depth = min(len(point[1]) // _INDENT, _DEEPEST)
        self.points += not depth
        self.open, self.block = None, 0
        text = _TIME.sub("", point[4])
        opens = text.endswith(_OPENS)
        text = text.removesuffix(_OPENS)
        directive = _DIRECTIVE.search(text)
        told = (text[: directive.start()] if directive else text).strip()
        name = told or f"test {point[3] or ''}".strip()
        if opens:
            self.parents.append(_Parent(depth, name, point[2] != "ok" and not directive, self.failed))
            return
        if self.parents:
            self._in_braces(point[2] == "ok", name, skipped=directive is not None)
            return
        if self.title and not depth and " - " not in point[0]:
            name = f"{self.title} > {name}"
        inner, self.levels[depth + 1] = self.levels[depth + 1], _Level()
        level = self.levels[depth]
        level.points += 1
        for red in inner.red[: MOST_FINDINGS - len(level.red)]:
            red.name = f"{name} > {red.name}"[:LONGEST_ID]
            level.red.append(red)
        if directive:
            self.skipped += not inner.points
        elif point[2] == "ok":
            self.passed += not inner.points
        elif not inner.red:
            self._failed(level, name)

    def _in_braces(self, ok: bool, name: str, *, skipped: bool) -> None:
        if skipped:
            self.skipped += 1
        elif ok:
            self.passed += 1
        else:
            self._failed(self.levels[0], " > ".join([*(parent.name for parent in self.parents), name]))

    def _close(self) -> None:
        """End a suite; one that failed by itself is a finding, too."""
        parent = self.parents.pop()
        if parent.failed and self.failed == parent.before:
            self._failed(self.levels[0], " > ".join([*(each.name for each in self.parents), parent.name]))

    def _failed(self, level: _Level, name: str) -> None:
        self.failed += 1
        self.used[name] += 1
        if self.used[name] > 1 and self.title:  # assertions of one test often have the same text
            name = f"{name} ({self.used[name]})"
        if len(level.red) < MOST_FINDINGS:
            self.open = _Red(name)
            level.red.append(self.open)

    def _why(self, said: str) -> None:
        """Note why a point failed: the text itself, or the mark of a block that has it on the next lines."""
        if self.open is None or self.open.said:
            return
        if said[0] in "|>":
            self.block = _BLOCK_LINES
        else:
            self.open.said, self.open = said.strip("'\""), None

    def seen(self) -> ToolResult:
        findings = [finding_about(red.name, red.said) for level in self.levels for red in level.red]
        if self.bailed is not None:
            findings.append(finding_about("bailed out", self.bailed))
        elif self.planned is None and self.points:
            where = f", in {self.title!r}" if self.title else ""
            findings.append(
                finding_about("unfinished", f"It ended after {several(self.points, 'test')}{where}.")
            )
        elif not self.is_whole and self.planned is not None:
            findings.append(
                finding_about("unfinished", f"{self.planned} tests were planned, {self.points} ran.")
            )
        return runner_result(
            TOOL,
            findings,
            passed=self.passed,
            failed=self.failed,
            skipped=self.skipped,
            empty=not self.points,
        )


def read(lines: Sequence[str]) -> ToolResult | None:
    """What TAP in these lines says; None if it is not TAP."""
    account = Account()
    for line in lines:
        account.line(line)
    return account.seen() if account.is_one else None
