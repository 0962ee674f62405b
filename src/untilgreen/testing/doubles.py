"""An agent, a gate and a clock that follow a script, for tests and demos without any model."""

from __future__ import annotations

import anyio
import anyio.lowlevel

from untilgreen.core.briefing.brief import Brief
from untilgreen.core.values.model import Finding, Promise, Reply, Verdict
from untilgreen.ports import Activity, CheckContext, TurnContext
from untilgreen.testing.stories import Script
from untilgreen.testing.workspaces import MemoryWorkspace

MARK = "lap.txt"
"""The file in which a scripted agent notes its lap, for the scripted gate to read."""


class FakeClock:
    """Time that passes only when it is read or slept through."""

    def __init__(self, start: float = 1_000.0, tick: float = 0.001) -> None:
        """Each reading takes one tick."""
        self.time = start
        self.tick = tick

    def now(self) -> float:
        """Let a tick pass, and return the time."""
        self.time += self.tick
        return self.time

    async def sleep_until(self, moment: float) -> None:
        """Jump to that time; other tasks get a turn."""
        await anyio.lowlevel.checkpoint()
        self.time = max(self.time, moment)


class ScriptedAgent:
    """Plays a story: notes each lap in the workspace, where the scripted gate sees it."""

    def __init__(self, played: str, workspace: MemoryWorkspace, promise: Promise | None = None) -> None:
        """`played` is a story as for `story`; `promise` is for a run that asks for one."""
        self.script = Script(played)
        self.workspace = workspace
        self.promise = promise
        self.briefs: list[Brief] = []

    async def work(self, brief: Brief, context: TurnContext) -> Reply:
        """Leave the mark of this lap, and answer as the story says."""
        self.briefs.append(brief)
        context.report(Activity(kind="text", text=f"lap {brief.lap}"))
        await anyio.lowlevel.checkpoint()
        if self.script.moves(brief.lap):
            self.workspace.files[MARK] = str(brief.lap)
        return self.script.reply(brief.lap, self.promise)


class ScriptedGate:
    """Gives the story's verdict on the lap whose mark it finds."""

    def __init__(self, played: str, workspace: MemoryWorkspace) -> None:
        """`played` is a story as for `story`."""
        self.script = Script(played)
        self.workspace = workspace
        self.checks = 0

    async def check(self, workspace: CheckContext) -> Verdict:
        """Read the mark; without one, nothing has been done yet."""
        self.checks += 1
        await anyio.lowlevel.checkpoint()
        if MARK not in self.workspace.files:
            return Verdict(status="fail", findings=(Finding(id="untouched"),))
        return self.script.verdict(int(self.workspace.files[MARK]))
