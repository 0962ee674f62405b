"""One call of an operation: what it is about, what came with it, and what it may use."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from untilgreen.surfaces.web.guard import Refusal
from untilgreen.surfaces.web.people import Person

if TYPE_CHECKING:  # a server that has not been asked anything yet loads none of these
    from untilgreen.core.values.model import Permissions
    from untilgreen.engine.store.hub import Hubs
    from untilgreen.surfaces.web.changed_runs import ChangedRuns
    from untilgreen.surfaces.web.known_runs import KnownRun
    from untilgreen.surfaces.web.mcp_mount import McpMount
    from untilgreen.surfaces.web.runs import Runs

MOST_RUNS = 4
STARTS_A_MINUTE = 20
"""Runs that may be started within a minute, however soon they end."""


@dataclass(frozen=True, kw_only=True)
class StartLimits:
    """The limits of runs started from the page."""

    roots: tuple[Path, ...] = ()
    """Directories in which runs may be started; without any, no run may."""
    permissions: Permissions = "gates"
    sandboxed: bool = False
    """Whether every run has to be in a sandbox."""
    most_runs: int = MOST_RUNS
    """How many runs may run at a time."""


@dataclass(frozen=True, kw_only=True)
class Service:
    """What every operation works with."""

    runs: Runs
    hubs: Hubs
    """Followers of one run share one reader."""
    changes: ChangedRuns
    """Followers of all runs share another."""
    mcp: McpMount
    """Serves MCP clients."""
    start: StartLimits = field(default_factory=StartLimits)
    fleet: str = ""
    """The database of a fleet to show."""
    read_only: bool = False
    starts: deque[float] = field(default_factory=deque)
    """When runs were started recently."""
    closing: Callable[[], bool] = field(default=lambda: False)
    """Whether the server is shutting down, so that streams should end."""


@dataclass(frozen=True, kw_only=True)
class Call:
    """A request that passed the guard."""

    service: Service
    person: Person
    """Who is calling; their name is recorded in the journal."""
    path: dict[str, str]
    query: Any
    body: Any = None
    last_event_id: str = ""

    async def run(self) -> KnownRun:
        """The run that the path names."""
        return await self.service.runs.get(self.path["run"])

    def lap(self, run: KnownRun) -> int:
        """The lap that the path names, if the run has it; 0 is the baseline."""
        text = self.path["lap"]
        lap = int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else -1
        if not 0 <= lap <= len(run.state.laps) + (run.state.open is not None):
            raise Refusal(404, "Not found", f"Run {run.id} has no lap {text[:20]!r}.")
        return lap

    def gate(self, run: KnownRun) -> str:
        """The gate that the path names, if the run has it."""
        name = self.path["gate"]
        if name not in {gate.name for gate in run.state.plan.gates}:
            raise Refusal(404, "Not found", f"Run {run.id} has no gate {name[:80]!r}.")
        return name
