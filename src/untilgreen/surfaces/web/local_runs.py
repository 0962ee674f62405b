"""The runs of one state directory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from anyio import to_thread

from untilgreen.engine.store.catalog import is_driven
from untilgreen.engine.store.folder_record import FolderRecord
from untilgreen.engine.store.runs import Store
from untilgreen.engine.worktree.snapshots import workspace_of
from untilgreen.surfaces.web.guard import Refusal
from untilgreen.surfaces.web.known_runs import KnownRun, ListedRun, refusals

MOST_KEPT = 200
"""Runs whose states are kept in memory."""


class LocalRuns:
    """All runs of one state directory."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._records: dict[str, FolderRecord] = {}

    def among(self, names: Iterable[str]) -> set[str]:
        """Those of these names that are runs here."""
        return {name for name in names if self._store.record(name).complete}

    async def names(self) -> list[str]:
        return [folder.id for folder in await to_thread.run_sync(self._store.runs)]

    async def listed_all(self, names: Sequence[str]) -> list[ListedRun | Refusal]:
        return await to_thread.run_sync(self._listed_all, names)

    async def get(self, name: str) -> KnownRun:
        return await to_thread.run_sync(self._read, name)

    async def marks(self) -> Mapping[str, Any]:
        return await to_thread.run_sync(self._marks)

    def _listed(self, name: str) -> ListedRun:
        record = self._store.record(name)
        row = self._store.catalog.row(record)
        running = row.outcome is None and is_driven(record)
        return ListedRun(name, row, self._store.catalog.meta(record).workspace, running=running)

    def _listed_all(self, names: Sequence[str]) -> list[ListedRun | Refusal]:
        found: list[ListedRun | Refusal] = []
        for name in names:
            try:
                with refusals():
                    found.append(self._listed(name))
            except Refusal as refusal:
                found.append(refusal)
        return found

    def _read(self, name: str) -> KnownRun:
        record = self._records.pop(name, None) or self._store.record(name)
        if not record.complete:
            raise Refusal(404, "Not found", f"There is no run {name!r}.")
        loaded = record.read()
        self._records[name] = record  # it remembers what it has read, while nobody writes to it
        while len(self._records) > MOST_KEPT:
            self._records.pop(next(iter(self._records)))
        workspace = str(loaded.state.plan.workspace.get("start", ""))
        opened = partial(workspace_of, loaded.state, record.scratch)
        return KnownRun(record, loaded, workspace, opened, driven=is_driven(record))

    def _marks(self) -> dict[str, tuple[int, int, int]]:
        found = {}
        for folder in self._store.runs():
            try:
                seen = folder.journal.stat()
            except OSError:
                continue
            found[folder.id] = (seen.st_ino, seen.st_size, seen.st_mtime_ns)
        return found
