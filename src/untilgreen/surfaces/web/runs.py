"""The runs behind the API: found by their exact id, here or in a fleet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

from anyio import to_thread

from untilgreen.engine.store import run_ids
from untilgreen.engine.store.runs import Store
from untilgreen.errors import UntilgreenError
from untilgreen.surfaces.web.guard import Refusal
from untilgreen.surfaces.web.known_runs import KnownRun, ListedRun, RunSource, refusals
from untilgreen.surfaces.web.local_runs import LocalRuns

LEARNED_AT_ONCE = 20
"""How many runs are read in one go; other work gets its turn in between."""


class Runs:
    """All runs that the server shows: those of its state directory, and those of a fleet."""

    def __init__(self, store: Store, fleet: RunSource | None = None) -> None:
        self.store = store
        self.local = LocalRuns(store)
        self._fleet = fleet
        self._marks: Mapping[str, Any] = {}
        self.missing = ""
        """Why the runs of the fleet are not listed."""

    @property
    def state_dir(self) -> Path:
        """Where the runs of this machine are kept."""
        return self.store.state_dir

    async def names(self) -> list[str]:
        """Every run's id, newest first; without those of a fleet that can't be reached."""
        here = await self.local.names()
        if self._fleet is None:
            return here
        try:
            there, self.missing = await self._fleet.names(), ""
        except UntilgreenError as error:
            there, self.missing = [], str(error)
        return sorted({*here, *there}, reverse=True)

    async def listed(self, name: str) -> ListedRun:
        """A run as a list shows it, without reading its journal where that has not changed."""
        (found,) = await self.listed_all([name])
        if isinstance(found, Refusal):
            raise found
        return found

    async def listed_all(self, names: Sequence[str]) -> list[ListedRun | Refusal]:
        """Several runs at once, as `listed`; for one that can't be read, the reason."""
        if self._fleet is None:
            return await self.local.listed_all(names)
        known = await to_thread.run_sync(self.local.among, names)
        here = [name for name in names if name in known]
        there = [name for name in names if name not in known]
        found = dict(zip(here, await self.local.listed_all(here), strict=True))
        if there:
            with refusals():
                found |= dict(zip(there, await self._fleet.listed_all(there), strict=True))
        return [found[name] for name in names]

    async def listed_open(self) -> list[ListedRun]:
        """The runs that are not over, newest first; what can't be read is left out."""
        rows = await self.listed_all(await self.names())
        return [each for each in rows if isinstance(each, ListedRun) and each.row.outcome is None]

    async def get(self, name: str) -> KnownRun:
        """The run with exactly this id; nothing in a request is ever a path."""
        if not run_ids.is_one(name):
            raise Refusal(404, "Not found", f"There is no run {name!r}.")
        with refusals():
            if self._fleet is not None and not self.local.among([name]):
                return await self._fleet.get(name)
            return await self.local.get(name)

    async def learn(self) -> None:
        """Read the runs that the catalog does not know yet, newest first; the next server need not."""
        for some in batched(await self.local.names(), LEARNED_AT_ONCE):
            await self.local.listed_all(some)
        await to_thread.run_sync(self.store.catalog.save)

    async def marks(self) -> Mapping[str, Any]:
        """A mark for each run that changes when it does, or stays while its fleet can't be reached."""
        if self._fleet is not None:
            with suppress(UntilgreenError):
                self._marks = await self._fleet.marks()
        return {**self._marks, **await self.local.marks()}


def batched(names: Sequence[str], size: int) -> Iterator[tuple[str, ...]]:
    """The names, a few at a time."""
    rest = iter(names)
    while some := tuple(islice(rest, size)):
        yield some
