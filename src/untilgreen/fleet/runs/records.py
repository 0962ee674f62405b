"""All runs of a fleet, and how one begins."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import psycopg
from msgspec.structs import replace

from untilgreen import __version__
from untilgreen.core.values.events import RunStarted
from untilgreen.core.values.model import Plan
from untilgreen.core.values.run_row import RunRow
from untilgreen.engine.store import run_ids
from untilgreen.engine.store.runs import LAST
from untilgreen.errors import UnknownRun, UserError
from untilgreen.fleet.runs.record import DRIVEN, PostgresRecord
from untilgreen.journal.postgres.database import PATIENCE_SECONDS, Connection, Database
from untilgreen.journal.postgres.journal import Token
from untilgreen.journal.postgres.notices import Notices
from untilgreen.ports import Prepare

COMMAND_SECONDS = 10.0
"""How long a command waits for a server that is down."""
BEGINNING: Token = (0,)
"""The token of the process that begins a run, smaller than any driver's."""
_rows = msgspec.json.Decoder(RunRow)


class PostgresRecords:
    """Every run that one database keeps."""

    def __init__(
        self,
        url: str,
        knock: Callable[[str], Awaitable[None]] | None = None,
        patience: float = PATIENCE_SECONDS,
    ) -> None:
        """`knock` wakes a run's workflow; `patience` is how long a call waits for a database that is down."""
        self.database = Database(url, patience)
        self.notices = Notices(url)
        self._knock = knock

    def record(self, run: str, token: Token = (), *, place: str = "", deaf: float = 30.0) -> PostgresRecord:
        """The record of the run with exactly that id."""
        return PostgresRecord(
            self.database, self.notices, run, token=token, place=place, deaf=deaf, knock=self._knock
        )

    async def begin(
        self, plan: Plan, at: float, *, code: Mapping[str, Path], prepare: Prepare, key: str = ""
    ) -> PostgresRecord:
        """Create a run that nobody drives yet; if `prepare` raises, nothing is left of it.

        `key` finds the run again if the answer was lost.
        """
        record = self.record(await self._claim(at), BEGINNING)
        try:
            await record._take(BEGINNING, key)
            await prepare(record)
            for name, path in code.items():
                await record.keep(f"code/{name}", path)
            started = RunStarted(at=at, run=record.id, plan=plan, version=__version__)
            await record._journal(BEGINNING).append(started)
        except BaseException:
            await self.remove(record.id)
            raise
        await record.note((await record.load()).state)
        await record._release()
        return self.record(record.id)

    async def begun_by(self, key: str) -> str | None:
        """The run that was begun with that key; an incomplete one is removed."""
        of_it = "FROM $schema.run WHERE holder = %s AND token = %s::bigint[]"
        await self._select(f"DELETE {of_it} AND seq = 0 AND size = 0 RETURNING 1", key, list(BEGINNING))
        found = await self._select(f"SELECT id {of_it}", key, list(BEGINNING))
        return found[0][0] if found else None

    async def open(self, text: str, workspace: Path) -> PostgresRecord:
        """The run with that id, the only one with that prefix, or the newest of all for `@last`."""
        wanted = "" if text == LAST else run_ids.as_meant(text)
        select = "SELECT id FROM $schema.run WHERE starts_with(id, %s) ORDER BY id DESC LIMIT 11"
        found = [row[0] for row in await self._select(select, wanted)]
        if text == LAST and found:
            return self.record(found[0])
        if wanted and (len(found) == 1 or wanted in found):
            return self.record(wanted if wanted in found else found[0])
        if found and wanted:
            raise UserError(
                f"{text!r} matches {len(found)} runs: {', '.join(found[:10])}. Type more of the id."
            )
        raise UnknownRun(f"The fleet has no run {text!r}. `untilgreen list --fleet` shows all runs.")

    async def rows(self, workspace: Path | None = None) -> AsyncIterator[tuple[str, RunRow]]:
        """Every run, newest first; a fleet's runs belong to no directory of this machine."""
        for run, row, driven in await self._select(
            f"SELECT id, row, {DRIVEN} FROM $schema.run WHERE row IS NOT NULL ORDER BY id DESC"
        ):
            found = _rows.decode(bytes(row))
            yield run, replace(found, status="running") if driven and found.status == "open" else found

    async def names(self) -> list[str]:
        """Every run's id, newest first."""
        found = await self._select("SELECT id FROM $schema.run WHERE row IS NOT NULL ORDER BY id DESC")
        return [row[0] for row in found]

    async def listed(self, runs: Sequence[str]) -> dict[str, tuple[RunRow, bool]]:
        """The runs among these that exist, each with its row in lists and whether it is driven."""
        select = f"SELECT id, row, {DRIVEN} FROM $schema.run WHERE row IS NOT NULL AND id = ANY(%s)"
        found = await self._select(select, list(runs))
        return {run: (_rows.decode(bytes(row)), driven) for run, row, driven in found}

    async def marks(self) -> dict[str, tuple[str, bool]]:
        """For each run, a mark that changes when its row in lists does, and whether it is driven."""
        select = f"SELECT id, md5(row), {DRIVEN} FROM $schema.run WHERE row IS NOT NULL"
        return {run: (mark, driven) for run, mark, driven in await self._select(select)}

    async def remove(self, run: str) -> None:
        """Forget a run and everything that is kept about it."""
        await self._select("DELETE FROM $schema.run WHERE id = %s RETURNING 1", run)
        await self._select("DELETE FROM $schema.shown WHERE run = %s RETURNING 1", run)

    async def setting(self, name: str) -> str | None:
        """A setting shared by everybody who uses the database."""
        rows = await self._select("SELECT value FROM $schema.setting WHERE name = %s", name)
        return rows[0][0] if rows else None

    async def set(self, name: str, value: str) -> None:
        """Change such a setting."""
        insert = "INSERT INTO $schema.setting VALUES (%s, %s) ON CONFLICT (name)"
        await self._select(f"{insert} DO UPDATE SET value = excluded.value RETURNING 1", name, value)

    async def _claim(self, at: float) -> str:
        moment = at or time.time()

        def work(connection: Connection) -> str:
            nonlocal moment
            while True:
                run = run_ids.new(moment)
                try:
                    connection.execute("INSERT INTO $schema.run (id) VALUES (%s)", (run,))
                except psycopg.errors.UniqueViolation:
                    moment += run_ids.TICK_SECONDS
                else:
                    return run

        return await self.database.call(work)

    async def _select(self, statement: str, *values: object) -> list[Any]:
        return await self.database.call(
            lambda connection: connection.execute(statement.encode(), values).fetchall()
        )
