"""One run as the API knows it: as a row of a list, and in full from its journal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from untilgreen.core.values.run_row import RunRow
from untilgreen.engine.store.folder_record import FolderRecord
from untilgreen.engine.worktree.snapshots import Opened
from untilgreen.errors import JournalError, UserError
from untilgreen.ports import LoadedRun, Record
from untilgreen.surfaces.web.guard import Refusal


class ListedRun:
    """One run as a row of a list."""

    def __init__(self, name: str, row: RunRow, workspace: str, *, running: bool, fleet: bool = False) -> None:
        self.name = name
        self.row = row
        self.workspace = workspace
        self.running = running
        self.fleet = fleet


class KnownRun:
    """One run, as it was when it was read."""

    def __init__(
        self, record: Record, loaded: LoadedRun, workspace: str, opened: Opened, *, driven: bool
    ) -> None:
        """`workspace` is the directory or the remote that it was started from; `opened` has its snapshots."""
        self.record = record
        self.state = loaded.state
        self.position = loaded.seq
        """How many events its journal has."""
        self.head = loaded.head
        self.workspace = workspace
        self.opened = opened
        self.running = self.state.outcome is None and driven

    @property
    def id(self) -> str:
        """Its name."""
        return self.record.id

    @property
    def folder(self) -> FolderRecord | None:
        """Its folder; None for a run of a fleet, which only its workers drive."""
        return self.record if isinstance(self.record, FolderRecord) else None

    def here(self, verb: str) -> FolderRecord:
        """Its folder, for a verb that needs its files; refused with advice for a run of a fleet."""
        if self.folder is None:
            raise Refusal(
                409,
                "In the fleet",
                f"The files of run {self.id} are on its remote. "
                f"In a clone of it, run: untilgreen {verb} {self.id} --fleet",
            )
        return self.folder


class RunSource(Protocol):
    """Where runs are kept: a state directory, or the database of a fleet."""

    async def names(self) -> list[str]:
        """Every run's id, newest first."""

    async def listed_all(self, names: Sequence[str]) -> list[ListedRun | Refusal]:
        """These runs; for one that can't be read, the reason."""

    async def get(self, name: str) -> KnownRun:
        """The run with exactly this id."""

    async def marks(self) -> Mapping[str, Any]:
        """A mark for each run that changes when the run does, and is cheap to get."""


@contextmanager
def refusals() -> Iterator[None]:
    """Turn what is wrong with a run into an answer."""
    try:
        yield
    except JournalError as error:
        raise Refusal(409, "Damaged", str(error)) from error
    except UserError as error:
        raise Refusal(404, "Not found", str(error)) from error
