"""A run in PostgreSQL, behind the same contract as a run in a folder, fenced by a token that only grows."""

from __future__ import annotations

import time
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import Any

import anyio
import msgspec

from untilgreen.core.loop.fold import apply, fold
from untilgreen.core.loop.receive import Arrival
from untilgreen.core.values.driver import Driver
from untilgreen.core.values.state import RunState
from untilgreen.engine.store.catalog import row_of
from untilgreen.errors import JournalDamaged, JournalError, JournalLocked, JournalTaken, RunGone
from untilgreen.journal.codec import End
from untilgreen.journal.postgres.database import Connection, Database, DatabaseAway
from untilgreen.journal.postgres.journal import PostgresJournal, Token
from untilgreen.journal.postgres.notices import Notices
from untilgreen.ports import Hold, LoadedRun, ShownActivity

PART_BYTES = 1 << 20
_SEND = (
    "INSERT INTO $schema.arrival (run, at, body) "
    "SELECT id, %s, %s FROM $schema.run WHERE id = %s RETURNING id"
)
DRIVEN = "coalesce(seen > now() - interval '1 minute', false)"
"""Whether somebody drives a run: its driver renews `seen` now and then."""
_SEEN = "UPDATE $schema.run SET seen = clock_timestamp() WHERE id = %s AND token = %s::bigint[] RETURNING 1"
_ROW = "UPDATE $schema.run SET row = %s WHERE id = %s AND token = %s::bigint[] RETURNING 1"
_DRIVER = f"SELECT holder, token, seen FROM $schema.run WHERE id = %s AND {DRIVEN}"
_HELD = "SELECT 1 FROM $schema.run WHERE id = %s AND token = %s::bigint[] FOR SHARE"
"""Whether a driver still has the run; locks it until the transaction ends."""
_UNDRIVEN = (
    "UPDATE $schema.run SET token = token || 1::bigint, seen = clock_timestamp() "
    f"WHERE id = %s AND (token[1] = 0 OR NOT %s) AND NOT {DRIVEN} RETURNING token"
)
"""Takes a run that nobody drives, with a token above its last driver's and below that of any later one.

Before its first driver the token begins with 0.
"""
_ANSWER = "UPDATE $schema.arrival SET taken = clock_timestamp(), refused = %s WHERE id = %s AND run = %s"
_PART = "INSERT INTO $schema.artifact (run, name, part, token, data) VALUES (%s, %s, %s, %s, %s)"
_NAMES = "SELECT DISTINCT name FROM $schema.artifact WHERE run = %s AND starts_with(name, %s) ORDER BY name"
_ACTIVITY = (
    "SELECT id, body FROM $schema.shown WHERE run = %s AND lap = %s AND attempt = %s AND id > %s ORDER BY id"
)
_NOTIFY = "SELECT pg_notify('$schema', %s)"
_arrivals = msgspec.json.Decoder(Arrival)
_shown = msgspec.json.Decoder(ShownActivity)


class PostgresRecord:
    """One run of a fleet."""

    def __init__(
        self,
        database: Database,
        notices: Notices,
        run: str,
        *,
        token: Token = (),
        place: str = "",
        deaf: float = 30.0,
        knock: Callable[[str], Awaitable[None]] | None = None,
    ) -> None:
        """`token` fences a driver, and `place` names its machine.

        After `deaf` seconds without the database the driver counts as overtaken. `knock` wakes the workflow.
        """
        self.id = run
        self._database, self._notices, self._token = database, notices, token
        self._place, self._deaf, self._knock = place, deaf, knock
        self._heard = time.monotonic()
        self._read: tuple[RunState | None, End] = (None, End())

    async def load(self) -> LoadedRun:
        """Load the run; reads only what was written since the last time."""
        state, end = self._read
        events, end = await self._journal().since(end)
        for event in events:
            state = apply(state, event)
        if state is None:
            raise JournalError(
                f"The journal of run {self.id} is empty. Start a new run with `untilgreen run`."
            )
        self._read = (state, end)
        return LoadedRun(state=state, seq=end.seq, head=end.head)

    def open_journal(self) -> PostgresJournal:
        return self._journal()

    @asynccontextmanager
    async def hold(self, driver: Driver) -> AsyncIterator[Hold]:
        token = self._token or driver.token
        await self._take(token, self._place or driver.place)
        self._token = token
        journal = self._journal(token)
        state = fold(await journal.events())
        run = None if state is None else LoadedRun(state=state, seq=journal.end.seq, head=journal.end.head)
        try:
            yield Hold(journal=journal, run=run)
        finally:
            with anyio.CancelScope(shield=True):
                await self._release()

    @asynccontextmanager
    async def hold_undriven(
        self, *, never: bool = False
    ) -> AsyncIterator[tuple[PostgresRecord, Hold] | None]:
        """The right to write to a run without having its files; a driver that starts takes over.

        Yields None if the run is driven, or with `never`, if it ever was.
        """
        rows = await self._rows(_UNDRIVEN, self.id, never)
        if not rows:
            yield None
            return
        token = tuple(rows[0][0])
        writer = PostgresRecord(self._database, self._notices, self.id, token=token)
        journal = writer._journal(token)
        try:
            state = fold(await journal.events())
            end = journal.end
            run = None if state is None else LoadedRun(state=state, seq=end.seq, head=end.head)
            yield writer, Hold(journal=journal, run=run)
        finally:
            with anyio.CancelScope(shield=True):
                await writer._release()

    async def check(self) -> None:
        """Raise if the run was taken over; an unreachable database is tolerated for a while."""
        try:
            found = await self._rows(_SEEN, self.id, list(self._token), patience=0)
        except DatabaseAway:
            if time.monotonic() - self._heard > self._deaf:
                raise JournalTaken(
                    f"The database was out of reach for {self._deaf:.0f} s, "
                    f"so another driver may have taken run {self.id} over."
                ) from None
            return
        self._heard = time.monotonic()
        if not found:
            raise JournalTaken(f"Run {self.id} was taken over by another driver.")

    async def driver(self) -> Driver | None:
        """Who drives the run, if it was seen recently."""
        rows = await self._rows(_DRIVER, self.id)
        if not rows or not rows[0][0]:
            return None
        return Driver(place=rows[0][0], token=tuple(rows[0][1]), since=str(rows[0][2]))

    async def note(self, state: RunState, patience: float | None = None) -> None:
        """Save what lists show of the run; does nothing for a driver that was overtaken."""
        row = msgspec.json.encode(row_of(state))
        await self._rows(_ROW, row, self.id, list(self._token), patience=patience)

    async def _release(self) -> None:
        """Release the run; the token stays."""
        with suppress(JournalError):
            await self._rows(
                "UPDATE $schema.run SET seen = NULL WHERE id = %s AND token = %s::bigint[] RETURNING 1",
                self.id,
                list(self._token),
                patience=0,
            )

    async def send(self, arrival: Arrival) -> str:
        def work(connection: Connection) -> str:
            with connection.transaction():
                values = (arrival.at, msgspec.json.encode(arrival), self.id)
                row = connection.execute(_SEND, values).fetchone()
                if row is None:
                    raise RunGone(self.id)
                connection.execute(_NOTIFY, (self.id,))
                return str(row[0])

        return await self._database.call(work)

    async def arrived(self) -> Sequence[tuple[str, Arrival]]:
        select = "SELECT id, body FROM $schema.arrival WHERE run = %s AND taken IS NULL ORDER BY at, id"
        try:
            rows = await self._rows(select, self.id, patience=0)
        except DatabaseAway:  # read them later
            return []
        found = []
        for number, body in rows:
            with suppress(ValueError, RecursionError):
                found.append((str(number), _arrivals.decode(bytes(body))))
        return found

    async def answered(self, letter: str, refused: str) -> None:
        """Only the holder of the run may answer; an overtaken driver may not."""

        def work(connection: Connection) -> None:
            with connection.transaction():
                self._check_held(connection)
                connection.execute(_ANSWER, (refused, int(letter), self.id))
                connection.execute(_NOTIFY, (self.id,))

        await self._database.call(work)

    async def reply(self, letter: str, seconds: float) -> str | None:
        select = "SELECT refused FROM $schema.arrival WHERE id = %s AND run = %s AND taken IS NOT NULL"
        with self._notices.about(self.id) as heard, anyio.move_on_after(seconds):
            while not (rows := await self._rows(select, int(letter), self.id)):
                await heard.wait()
            return str(rows[0][0] or "")
        return None

    async def wake(self) -> None:
        if self._knock is not None:
            await self._knock(self.id)

    async def wait_for_news(self, seconds: float) -> None:
        with self._notices.about(self.id) as heard:
            await heard.wait(seconds)

    async def keep(self, name: str, path: Path) -> None:
        await self.keep_bytes(name, await anyio.Path(path).read_bytes())

    async def keep_bytes(self, name: str, content: bytes) -> None:
        """Save all of it or nothing, and only as the holder of the run."""
        data = await anyio.to_thread.run_sync(zlib.compress, content, 1)
        parts = [data[start : start + PART_BYTES] for start in range(0, len(data), PART_BYTES)]
        token = list(self._token)

        def work(connection: Connection) -> None:
            with connection.transaction():
                self._check_held(connection)
                connection.execute(
                    "DELETE FROM $schema.artifact WHERE run = %s AND name = %s", (self.id, name)
                )
                with connection.cursor() as cursor:
                    rows = [(self.id, name, number, token, part) for number, part in enumerate(parts)]
                    cursor.executemany(_PART, rows)

        await self._database.call(work)

    async def kept(self, name: str) -> bytes | None:
        select = "SELECT data FROM $schema.artifact WHERE run = %s AND name = %s ORDER BY part"
        rows = await self._rows(select, self.id, name)
        return zlib.decompress(b"".join(bytes(row[0]) for row in rows)) if rows else None

    async def lines(self) -> bytes:
        """The lines of the journal, as in a file."""
        rows = await self._rows("SELECT line FROM $schema.event WHERE run = %s ORDER BY seq", self.id)
        return b"".join(bytes(row[0]) for row in rows)

    async def names(self, start: str) -> list[str]:
        """The names of saved files with that prefix, checked to stay in the folder they are written to.

        Another writer to the database could have chosen a name that leads out of it.
        """
        found = [str(row[0]) for row in await self._rows(_NAMES, self.id, start)]
        for name in found:
            path = PurePosixPath(name)
            if path.is_absolute() or ".." in path.parts:
                raise JournalDamaged(
                    f"A file of run {self.id} is named {name!r}, which leads out of the folder of the run. "
                    "Find out who wrote that to the fleet's database."
                )
        return found

    def show(self, shown: ShownActivity) -> None:
        """Best effort: if the database is slow, activity is dropped rather than delaying the turn."""
        values = (self.id, shown.lap, shown.attempt, msgspec.json.encode(shown))
        insert = "INSERT INTO $schema.shown (run, lap, attempt, body) VALUES (%s, %s, %s, %s)"
        with suppress(JournalError):
            self._database.run(lambda connection: connection.execute(insert, values), 0)

    async def shown(self) -> ShownActivity | None:
        select = "SELECT body FROM $schema.shown WHERE run = %s ORDER BY id DESC LIMIT 1"
        rows = await self._rows(select, self.id)
        return _shown.decode(bytes(rows[0][0])) if rows else None

    async def activity(self, lap: int, attempt: int = 1, offset: int = 0) -> tuple[list[ShownActivity], int]:
        rows = await self._rows(_ACTIVITY, self.id, lap, attempt, offset)
        return [_shown.decode(bytes(body)) for _, body in rows], rows[-1][0] if rows else offset

    async def _take(self, token: Token, place: str) -> None:
        """Become the only writer."""

        def work(connection: Connection) -> None:
            with connection.transaction():
                select = "SELECT token, holder FROM $schema.run WHERE id = %s FOR UPDATE"
                row = connection.execute(select, (self.id,)).fetchone()
                if row is None:
                    raise RunGone(self.id)
                if tuple(row[0]) >= token:
                    raise JournalLocked(f"Run {self.id} is being driven by {row[1] or 'a newer driver'}.")
                connection.execute(
                    "UPDATE $schema.run SET token = %s, holder = %s, seen = clock_timestamp() WHERE id = %s",
                    (list(token), place, self.id),
                )
                connection.execute(_NOTIFY, (self.id,))

        await self._database.call(work)

    def _check_held(self, connection: Connection) -> None:
        if connection.execute(_HELD, (self.id, list(self._token))).fetchone() is None:
            raise JournalTaken(f"Run {self.id} was taken over by another driver.")

    def _journal(self, token: Token = ()) -> PostgresJournal:
        return PostgresJournal(self._database, self.id, token, self._notices)

    async def _rows(self, statement: str, *values: Any, patience: float | None = None) -> list[Any]:
        return await self._database.call(
            lambda connection: connection.execute(statement.encode(), values).fetchall(), patience
        )
