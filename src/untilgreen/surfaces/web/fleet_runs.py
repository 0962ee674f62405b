"""The runs of a fleet: their rows and journals in its database, their snapshots on their remotes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio

from untilgreen.core.values.run_row import RunRow
from untilgreen.engine.wiring.workplace import workplace
from untilgreen.errors import UserError, WorkspaceNotReady
from untilgreen.fleet.client import Fleet
from untilgreen.fleet.runs.record import PostgresRecord
from untilgreen.fleet.runs.records import COMMAND_SECONDS, PostgresRecords
from untilgreen.surfaces.web.guard import Refusal
from untilgreen.surfaces.web.known_runs import KnownRun, ListedRun
from untilgreen.workspace.remote import Remote

MOST_KEPT = 200
"""Runs whose states are kept in memory."""
LIST_SECONDS = 1.0
"""How long a list waits for the database: the runs of this machine are shown without it."""
FETCH_SECONDS = 20.0
"""How long the snapshots of a run may take to arrive."""


class FetchedSnapshots:
    """The snapshots of a run, in a copy of its remote."""

    def __init__(self, run: str, remote: str, cache: Path) -> None:
        self._run = run
        self._remote = Remote(remote, cache)

    async def diff(self, before: str, after: str) -> str:
        try:
            with anyio.fail_after(FETCH_SECONDS):
                return await self._remote.diff(self._run, before, after)
        except TimeoutError as error:
            raise WorkspaceNotReady(
                f"{self._remote.url!r} did not send the files within {FETCH_SECONDS:.0f} s. Try again later."
            ) from error


class FleetRuns:
    """All runs that one database keeps."""

    def __init__(self, url: str, cache: Path) -> None:
        """`cache` is where copies of remotes are kept."""
        self._url, self._cache = url, cache
        self._lists = PostgresRecords(url, patience=LIST_SECONDS)
        self._records = PostgresRecords(url, self._knock, COMMAND_SECONDS)
        self._kept: dict[str, PostgresRecord] = {}
        self._fleet: Fleet | None = None

    def close(self) -> None:
        """End the connections."""
        self._lists.database.close()
        self._records.database.close()

    async def names(self) -> list[str]:
        return await self._lists.names()

    async def listed_all(self, names: Sequence[str]) -> list[ListedRun | Refusal]:
        found = await self._lists.listed(names)
        return [_listed(name, *found[name]) if name in found else _unknown(name) for name in names]

    async def get(self, name: str) -> KnownRun:
        found = await self._lists.listed([name])
        if name not in found:
            raise _unknown(name)
        record = self._kept.pop(name, None) or self._records.record(name)
        loaded = await record.load()
        self._kept[name] = record  # it remembers what it has read
        while len(self._kept) > MOST_KEPT:
            self._kept.pop(next(iter(self._kept)))
        remote = workplace(loaded.state.plan).remote

        async def opened() -> FetchedSnapshots:
            return FetchedSnapshots(name, remote, self._cache)

        return KnownRun(record, loaded, remote, opened, driven=found[name][1])

    async def marks(self) -> Mapping[str, Any]:
        return await self._lists.marks()

    async def _knock(self, run: str) -> None:
        """Wake the run's workflow; if Temporal is away, a driver still finds commands by itself."""
        with suppress(UserError):
            self._fleet = self._fleet or await Fleet.connect(self._url, 0.0)
            await self._fleet.knock(run)


def _listed(name: str, row: RunRow, driven: bool) -> ListedRun:
    running = driven and row.outcome is None
    return ListedRun(name, row, row.remote or "the fleet", running=running, fleet=True)


def _unknown(name: str) -> Refusal:
    return Refusal(404, "Not found", f"There is no run {name!r}, neither here nor in the fleet.")
