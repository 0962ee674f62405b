"""Opens what operations work with: the runs here and of a fleet, with one reader for all followers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from untilgreen.engine.store.hub import Hubs
from untilgreen.engine.store.runs import Store
from untilgreen.surfaces.web.changed_runs import ChangedRuns
from untilgreen.surfaces.web.handlers.call import Service, StartLimits
from untilgreen.surfaces.web.mcp_mount import McpMount
from untilgreen.surfaces.web.runs import Runs

if TYPE_CHECKING:  # of an extra
    from untilgreen.surfaces.web.fleet_runs import FleetRuns


@asynccontextmanager
async def opened(
    state_dir: Path,
    start: StartLimits | None = None,
    read_only: bool = False,
    closing: Callable[[], bool] = lambda: False,
    fleet: str = "",
) -> AsyncIterator[Service]:
    """Keep the runs open as long as this block lasts."""
    there = _fleet_runs(fleet, state_dir)
    runs = Runs(Store(state_dir), there)
    async with (
        Hubs().running() as hubs,
        ChangedRuns(runs).running() as changes,
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
    if there is not None:
        there.close()


def _fleet_runs(url: str, state_dir: Path) -> FleetRuns | None:
    """The runs of a fleet; its libraries may be missing, and the fleet's own operation says so."""
    if not url:
        return None
    try:
        from untilgreen.surfaces.web.fleet_runs import FleetRuns
    except ModuleNotFoundError:
        return None
    return FleetRuns(url, state_dir / "fleet" / "cache")
