"""A copy of a fleet's run in a local folder, for reading; commands go to the run itself."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
from msgspec.structs import replace

from untilgreen.core.loop.receive import Arrival
from untilgreen.core.values.driver import Driver
from untilgreen.engine.store.atomic_file import put
from untilgreen.engine.store.folder_record import FolderRecord
from untilgreen.engine.store.run_folder import Meta
from untilgreen.engine.wiring.workplace import workplace
from untilgreen.errors import JournalLocked, WorkspaceNotReady
from untilgreen.fleet.runs.record import PostgresRecord
from untilgreen.fleet.runs.records import COMMAND_SECONDS, PostgresRecords
from untilgreen.journal.postgres.journal import PostgresJournal
from untilgreen.ports import Hold, LoadedRun, ShownActivity
from untilgreen.workspace.git.command import Git
from untilgreen.workspace.git.repository import Repositories
from untilgreen.workspace.remote import REFS


@dataclass(frozen=True, eq=False)
class MirroredRecord(FolderRecord):
    """Reads from the copy, and sends commands to the fleet."""

    origin: PostgresRecord = field(kw_only=True, repr=False)
    paths: Mapping[str, str] = field(kw_only=True, default_factory=dict)
    """Where its snapshots are on this machine; a plan of the fleet has no local paths."""

    @property
    def in_fleet(self) -> bool:
        return True

    def read(self) -> LoadedRun:
        loaded = super().read()
        plan = loaded.state.plan
        local = replace(plan, workspace={**plan.workspace, **self.paths})
        return replace(loaded, state=replace(loaded.state, plan=local))

    def open_journal(self) -> PostgresJournal:  # type: ignore[override]  # not a file
        """The run's own journal, so that followers get new events."""
        return self.origin.open_journal()

    @asynccontextmanager
    async def hold(self, driver: Driver) -> AsyncIterator[Hold]:
        raise JournalLocked(f"Run {self.id} belongs to the fleet, and only its workers drive it.")
        yield

    async def driver(self) -> Driver | None:
        return await self.origin.driver()

    async def send(self, arrival: Arrival) -> str:
        return await self.origin.send(arrival)

    def take_at_once(self, arrival: Arrival) -> str | None:
        """Only the fleet can take it."""
        return None

    async def arrived(self) -> Sequence[tuple[str, Arrival]]:
        return await self.origin.arrived()

    async def reply(self, letter: str, seconds: float) -> str | None:
        return await self.origin.reply(letter, seconds)

    async def wake(self) -> None:
        await self.origin.wake()

    async def wait_for_news(self, seconds: float) -> None:
        await self.origin.wait_for_news(seconds)

    async def shown(self) -> ShownActivity | None:
        return await self.origin.shown()

    async def activity(self, lap: int, attempt: int = 1, offset: int = 0) -> tuple[list[ShownActivity], int]:
        return await self.origin.activity(lap, attempt, offset)


async def export(record: PostgresRecord, folder: Path) -> None:
    """Write a run into a folder for `verify`, `why` and `report`: its journal, and the files events name."""
    for name in ("activity", "output", "inbox", "code", "trees"):
        (folder / name).mkdir(mode=0o700, parents=True, exist_ok=True)
    for name in await record.names(""):
        path = folder / name
        if path.exists():
            continue
        content = await record.kept(name)
        if content is not None:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            put(path, content)
    put(folder / "journal.jsonl", await record.lines())
    title = (await record.load()).state.plan.title
    put(folder / "meta.json", msgspec.json.encode(Meta(workspace=str(folder), title=title)))


async def mirror(
    url: str,
    text: str,
    folder: Path,
    knock: Callable[[str], Awaitable[None]] | None = None,
    clone: Path | None = None,
) -> MirroredRecord:
    """Copy the fleet's run that `text` names into a folder, and its snapshots into `clone`, if given."""
    records = PostgresRecords(url, knock, COMMAND_SECONDS)
    origin = await records.open(text, Path())
    await export(origin, folder / origin.id)
    found = MirroredRecord(folder / origin.id, origin=origin)
    return found if clone is None else dataclasses.replace(found, paths=await _fetched(found, clone))


async def _fetched(record: MirroredRecord, clone: Path) -> dict[str, str]:
    """The run's snapshots, fetched into the clone around that directory."""
    repository = await Repositories().find(clone)
    fetched = f"+{REFS}/{record.id}:{REFS}/{record.id}/fleet"
    asked = ("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "origin", fetched)
    if repository is None or (await Git(place=repository.top).attempt(*asked)).returncode:
        raise WorkspaceNotReady(
            f"The files of run {record.id} are on its remote, and {str(clone)!r} is not a clone of it, "
            "or it can't be reached. Run this in a clone, or name one with -C."
        )
    start = str(repository.top / workplace(record.read().state.plan).below)
    return {"repository": str(repository.common), "start": start, "base": start}
