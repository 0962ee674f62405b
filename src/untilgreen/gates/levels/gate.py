"""Verification in levels, each on top of the one below: contract, tests, black box, sanity.

A level counts only when it ran and all below it passed. The first that fails stops the rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal, Protocol

from untilgreen.core.values.model import Finding, Status, Verdict
from untilgreen.core.values.option_checks import about
from untilgreen.core.values.units import several
from untilgreen.errors import ConfigError
from untilgreen.gates.command import CANNOT_RUN
from untilgreen.gates.levels.blackbox import BlackBox
from untilgreen.gates.levels.contract import Contract
from untilgreen.gates.levels.sanity import Sanity
from untilgreen.gates.levels.tests import Tests
from untilgreen.gates.levels.work_files import Files
from untilgreen.ports import CheckContext

Level = Literal["L0", "L1", "L2", "L3"]
ORDER: tuple[Level, ...] = ("L0", "L1", "L2", "L3")


class Checks(Protocol):
    """One level: its findings, and its remarks."""

    async def findings(self, context: CheckContext, files: Files) -> tuple[list[Finding], list[str]]:
        """Findings that fail the level, and remarks that do not."""


@dataclass(frozen=True, kw_only=True)
class LevelsGate:
    """Passes when every level up to `min_level` does; levels above it run and only add remarks."""

    min_level: Annotated[Level, about("The highest level that must pass.")] = "L1"
    L0: Annotated[Contract | None, about("Contract: required and forbidden files, data, names.")] = None
    L1: Annotated[Tests | None, about("Tests: commands that must succeed.")] = None
    L2: Annotated[BlackBox | None, about("Black box: commands and the output they must give.")] = None
    L3: Annotated[Sanity | None, about("Sanity: leftovers, file sizes, files without tests.")] = None

    def __post_init__(self) -> None:
        """Refuse a required level without a table, since it could never pass."""
        asked = ORDER[: ORDER.index(self.min_level) + 1]
        missing = [level for level in asked if getattr(self, level) is None]
        if missing:
            raise ConfigError(
                f"min_level = {self.min_level!r} asks for {', '.join(asked)}, and there is no table for "
                f"{', '.join(missing)}. Add one, as [gates.NAME.{missing[0]}], or lower min_level."
            )

    async def check(self, workspace: CheckContext) -> Verdict:
        """Check level by level, from the bottom."""
        files = await Files.of(workspace)
        asked = ORDER[: ORDER.index(self.min_level) + 1]
        passed, lines = 0, []
        for level in ORDER:
            checks: Checks | None = getattr(self, level)
            if checks is None:
                continue
            found, remarks = await checks.findings(workspace, files)
            lines += [
                f"{level}: {several(len(found), 'finding')}" if found else f"{level} passes",
                *remarks,
            ]
            lines += [f"  {finding.id}: {finding.message}" for finding in found]
            if found:
                report = "\n".join(lines)
                if level not in asked:
                    break
                named = tuple(
                    Finding(id=f"{level} {each.id}", message=each.message, file=each.file) for each in found
                )
                status: Status = "error" if any(map(_could_not_run, found)) else "fail"
                return Verdict(status=status, score=passed / len(asked), findings=named, excerpt=report)
            passed += level in asked
        return Verdict(status="pass", score=1.0, excerpt="\n".join(lines))


def _could_not_run(finding: Finding) -> bool:
    """Whether a program of L1 is missing, which says nothing about the work."""
    return finding.id.rpartition(": ")[2] == CANNOT_RUN
