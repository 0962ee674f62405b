"""TAP: `not ok 2 - name`, subtests four spaces further in, a plan that says how many there should be."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from untilgreen.gates.recognise.shape import named, tallied
from untilgreen.gates.seen import LONGEST_ID, MOST_FINDINGS, Seen

TOOL = "tap"
_VERSION = re.compile(r"TAP version 1[234]$")
_POINT = re.compile(r"( *)(not ok|ok)\b(?: (\d{1,9}))?(?: - | )?(.*)$")
_PLAN = re.compile(r"1\.\.(\d{1,9})(?: *#.*)?$")
_DIRECTIVE = re.compile(r" ?# *(?:skip|todo)\b", re.IGNORECASE)
_BAIL = re.compile(r" *Bail out! *(.*)$")
_SAID = re.compile(r" *(?:error|message): *(\S.*)$")
_INDENT = 4
_DEEPEST = 16
_BLOCK_LINES = 2


@dataclass
class _Red:
    """A point that failed, and why."""

    name: str
    said: str = ""


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

    @property
    def is_one(self) -> bool:
        """Whether this is TAP at all."""
        declared = self.version or self.planned is not None
        said = self.points or self.bailed is not None or self.planned == 0
        return bool(declared and said and (self.points or self.version))

    @property
    def is_whole(self) -> bool:
        """Whether everything that was planned came."""
        return self.bailed is not None or (self.planned is not None and self.planned <= self.points)

    def line(self, line: str) -> None:
        """One more line, without its end."""
        if (point := _POINT.match(line)) is not None:
            self._point(point)
        elif self.block and self.open is not None:
            self.open.said += f"\n{line.strip()}"
            self.block -= 1
        elif self.open is not None and (said := _SAID.match(line)) is not None:
            self._why(said[1])
        elif (plan := _PLAN.match(line)) is not None:
            self.planned = (self.planned or 0) + int(plan[1])
        elif _VERSION.match(line):
            self.version = True
        elif (bail := _BAIL.match(line)) is not None:
            self.bailed = bail[1]

    def _point(self, point: re.Match[str]) -> None:
        depth = min(len(point[1]) // _INDENT, _DEEPEST)
        self.points += not depth
        self.open, self.block = None, 0
        directive = _DIRECTIVE.search(point[4])
        told = (point[4][: directive.start()] if directive else point[4]).strip()
        name = told or f"test {point[3] or ''}".strip()
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

    def _failed(self, level: _Level, name: str) -> None:
        self.failed += 1
        if len(level.red) < MOST_FINDINGS:
            self.open = _Red(name)
            level.red.append(self.open)

    def _why(self, said: str) -> None:
        """The words, or the mark of a block that has them in the next lines."""
        if self.open is None or self.open.said:
            return
        if said[0] in "|>":
            self.block = _BLOCK_LINES
        else:
            self.open.said, self.open = said.strip("'\""), None

    def seen(self) -> Seen:
        findings = [named(red.name, red.said) for level in self.levels for red in level.red]
        if self.bailed is not None:
            findings.append(named("bailed out", self.bailed))
        elif not self.is_whole and self.planned is not None:
            findings.append(named("unfinished", f"{self.planned} tests were planned, {self.points} ran."))
        return tallied(
            TOOL,
            findings,
            passed=self.passed,
            failed=self.failed,
            skipped=self.skipped,
            empty=not self.points,
        )


def read(lines: Sequence[str]) -> Seen | None:
    """What TAP in these lines says; None where it is none."""
    account = Account()
    for line in lines:
        account.line(line)
    return account.seen() if account.is_one else None
