"""The runs behind the API: found by their exact id, read from their journals, kept while unchanged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path

from anyio import to_thread

from untilgreen.core.values.run_row import RunRow
from untilgreen.core.values.state import RunState
from untilgreen.engine.store import run_ids
from untilgreen.engine.store.catalog import is_driven
from untilgreen.engine.store.folder_record import FolderRecord
from untilgreen.engine.store.runs import Store
from untilgreen.errors import JournalError, UntilgreenError, UserError
from untilgreen.journal.file import FileJournal
from untilgreen.surfaces.web.guard import Refusal

MOST_KEPT = 200
"""Runs whose states are kept in memory."""
LEARNED_AT_ONCE = 20
"""Runs that are read in one go; between two goes others get their turn."""


class ListedRun:
    """One run as the catalog knows it."""

    def __init__(self, name: str, row: RunRow, workspace: str, *, running: bool) -> None:
        self.name = name
        self.row = row
        self.workspace = workspace
        self.running = running


class KnownRun:
    """One run, read when it was last asked for."""

    def __init__(self, record: FolderRecord, state: RunState, position: int, head: str) -> None:
        self.record = record
        self.state = state
        self.position = position
        """How many events its journal has."""
        self.head = head

    @property
    def id(self) -> str:
        """Its name."""
        return self.record.id

    @property
    def running(self) -> bool:
        """Whether a process drives it now."""
        return self.state.outcome is None and is_driven(self.record)

    @property
    def workspace(self) -> str:
        """The directory it was started in."""
        return str(self.state.plan.workspace.get("start", ""))


@contextmanager
def _refusals() -> Iterator[None]:
    """What is wrong with a run, as an answer."""
    try:
        yield
    except JournalError as error:
        raise Refusal(409, "Damaged", str(error)) from error
    except UserError as error:
        raise Refusal(404, "Not found", str(error)) from error


class Runs:
    """All runs of one state directory."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._records: dict[str, FolderRecord] = {}

    @property
    def state_dir(self) -> Path:
        """Where they are kept."""
        return self.store.state_dir

    async def names(self) -> list[str]:
        """Every run's id, newest first."""
        return [folder.id for folder in await to_thread.run_sync(self.store.runs)]

    async def listed(self, name: str) -> ListedRun:
        """A run as the catalog remembers it, without reading its journal where that has not changed."""
        with _refusals():
            return await to_thread.run_sync(self._listed, name)

    async def listed_all(self, names: Sequence[str]) -> list[ListedRun | Refusal]:
        """Several runs at once, as `listed`; what can't be read is the reason."""
        return await to_thread.run_sync(self._listed_all, names)

    async def get(self, name: str) -> KnownRun:
        """The run of exactly that id; nothing in a request is ever a path."""
        if not run_ids.is_one(name):
            raise Refusal(404, "Not found", f"There is no run {name!r}.")
        with _refusals():
            return await to_thread.run_sync(self._read, name)

    async def all_open(self) -> list[KnownRun]:
        """The runs that are not over, newest first; what can't be read is left out."""
        rows = await self.listed_all(await self.names())
        found = []
        for each in rows:
            if isinstance(each, ListedRun) and each.row.outcome is None:
                with suppress(Refusal, UntilgreenError):
                    found.append(await self.get(each.name))
        return found

    async def learn(self) -> None:
        """Read what the catalog does not know yet, the newest first; the next server knows it at once."""
        for some in batched(await self.names(), LEARNED_AT_ONCE):
            await self.listed_all(some)
        await to_thread.run_sync(self.store.catalog.save)

    def journal(self, run: KnownRun) -> FileJournal:
        """To follow; nobody writes to it from here."""
        return run.record.open_journal()

    def _listed(self, name: str) -> ListedRun:
        record = self.store.record(name)
        row = self.store.catalog.row(record)
        running = row.outcome is None and is_driven(record)
        return ListedRun(name, row, self.store.catalog.meta(record).workspace, running=running)

    def _listed_all(self, names: Sequence[str]) -> list[ListedRun | Refusal]:
        found: list[ListedRun | Refusal] = []
        for name in names:
            try:
                with _refusals():
                    found.append(self._listed(name))
            except Refusal as refusal:
                found.append(refusal)
        return found

    def _read(self, name: str) -> KnownRun:
        record = self._records.pop(name, None) or self.store.record(name)
        if not record.complete:
            raise Refusal(404, "Not found", f"There is no run {name!r}.")
        loaded = record.read()
        self._records[name] = record  # it remembers what it has read, while nobody writes to it
        while len(self._records) > MOST_KEPT:
            self._records.pop(next(iter(self._records)))
        return KnownRun(record, loaded.state, loaded.seq, loaded.head)

    def marks(self) -> dict[str, tuple[int, int, int]]:
        """A cheap mark of each journal that changes with every event."""
        found = {}
        for folder in self.store.runs():
            try:
                seen = folder.journal.stat()
            except OSError:
                continue
            found[folder.id] = (seen.st_ino, seen.st_size, seen.st_mtime_ns)
        return found


def batched(names: Sequence[str], size: int) -> Iterator[tuple[str, ...]]:
    """A few at a time."""
    rest = iter(names)
    while some := tuple(islice(rest, size)):
        yield some
