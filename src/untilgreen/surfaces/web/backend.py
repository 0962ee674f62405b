"""What operations work with: the runs of a state directory, with one reader for all who follow."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from untilgreen.engine.store.hub import Hubs
from untilgreen.engine.store.runs import Store
from untilgreen.surfaces.web.changes import Changes
from untilgreen.surfaces.web.handlers.call import Service, StartLimits
from untilgreen.surfaces.web.mcp_mount import McpMount
from untilgreen.surfaces.web.runs import Runs


@asynccontextmanager
async def opened(
    state_dir: Path,
    start: StartLimits | None = None,
    read_only: bool = False,
    closing: Callable[[], bool] = lambda: False,
    fleet: str = "",
) -> AsyncIterator[Service]:
    """The runs, as long as this block lasts."""
    runs = Runs(Store(state_dir))
    async with (
        Hubs().running() as hubs,
        Changes(runs).running() as changes,
        McpMount().running() as mcp,
    ):
        yield Service(
            runs=runs,
            hubs=hubs,
            changes=changes,
            mcp=mcp,
            start=start or StartLimits(),
            read_only=read_only,
            closing=closing,
            fleet=fleet,
        )
