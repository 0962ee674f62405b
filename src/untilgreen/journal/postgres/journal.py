"""The events of one run in PostgreSQL: the lines of a file, written by the newest driver only."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

import anyio

from untilgreen.core.values.events import Event, RunFinished
from untilgreen.errors import JournalError, JournalTaken, RunGone
from untilgreen.journal.codec import End, decode, encode_all
from untilgreen.journal.postgres.database import Connection, Database
from untilgreen.journal.postgres.notices import Notices

Token = tuple[int, ...]
APPEND = """
WITH written AS (
  UPDATE $schema.run SET seq = %(seq)s, size = %(size)s, head = %(head)s, updated = clock_timestamp()
  WHERE id = %(run)s AND token = %(token)s::bigint[] AND seq = %(was)s AND head = %(before)s RETURNING 1
), inserted AS (
  INSERT INTO $schema.event (run, seq, token, line)
  SELECT %(run)s, n, %(token)s::bigint[], line
  FROM written, unnest(%(seqs)s::int[], %(lines)s::bytea[]) AS t (n, line) RETURNING seq
)
SELECT pg_notify('$schema', %(run)s), (SELECT max(seq) FROM inserted) FROM written
"""
"""The fence and the write in one statement: it changes nothing if the token or the end differs."""


class PostgresJournal:
    """One run's journal; without a token it can only be read and followed."""

    def __init__(
        self, database: Database, run: str, token: Token = (), notices: Notices | None = None
    ) -> None:
        """`notices` wakes followers; without it, the journal makes its own."""
        self._database = database
        self._run = run
        self.token = token
        self._notices = notices or Notices(database.url)
        self._end: End | None = None
        self._turn = anyio.Lock(fast_acquire=True)

    async def append(self, *events: Event) -> None:
        """Write events durably; `JournalTaken` if another driver has the run."""
        async with self._turn:
            await self._database.call(lambda connection: self._append(connection, events))

    async def events(self) -> Sequence[Event]:
        """All events so far."""
        async with self._turn:
            events, self._end = await self.since(End())
            return events

    @property
    def end(self) -> End:
        """Where the journal ended when it was last read or written."""
        return self._end or End()

    async def follow(self, after: int = 0) -> AsyncIterator[Event]:
        """Events from a position on as they are written, until the run is over."""
        end = End()
        with self._notices.about(self._run) as heard:
            while True:
                first = end.seq
                events, end = await self.since(end)
                for position, event in enumerate(events, first):
                    if position >= after:
                        yield event
                    if isinstance(event, RunFinished):
                        return
                await heard.wait()

    async def since(self, end: End) -> tuple[list[Event], End]:
        """What was written after that end, and the end now."""
        after = end.seq if end.size else -1
        select = "SELECT line FROM $schema.event WHERE run = %s AND seq > %s ORDER BY seq"
        rows = await self._database.call(
            lambda connection: connection.execute(select, (self._run, after), binary=True).fetchall()
        )
        return decode(b"".join(row[0] for row in rows), end, name=f"the journal of run {self._run}")

    def _append(self, connection: Connection, events: Sequence[Event]) -> None:
        end = self._stored_end(connection) if self._end is None else self._end
        data, after = encode_all(events, end)
        lines = data.splitlines(keepends=True)
        values = {
            "run": self._run,
            "token": list(self.token),
            "was": end.seq,
            "before": end.head,
            "seq": after.seq,
            "size": after.size,
            "head": after.head,
            "seqs": list(range(after.seq - len(lines) + 1, after.seq + 1)),
            "lines": lines,
        }
        if connection.execute(APPEND, values).fetchone() is None:
            self._settle(connection, after, lines[-1])
        self._end = after

    def _stored_end(self, connection: Connection) -> End:
        row = connection.execute(
            "SELECT seq, size, head FROM $schema.run WHERE id = %s", (self._run,)
        ).fetchone()
        if row is None:
            raise RunGone(self._run)
        return End(seq=row[0], size=row[1], head=row[2])

    def _settle(self, connection: Connection, after: End, line: bytes) -> None:
        """Raise, unless an attempt whose answer was lost wrote the events: the stored line tells."""
        select = "SELECT line, token FROM $schema.event WHERE run = %s AND seq = %s"
        there = connection.execute(select, (self._run, after.seq)).fetchone()
        if there is not None and bytes(there[0]) == line and tuple(there[1]) == self.token:
            return
        raise self._refusal(connection)

    def _refusal(self, connection: Connection) -> JournalError:
        row = connection.execute(
            "SELECT token, holder FROM $schema.run WHERE id = %s", (self._run,)
        ).fetchone()
        if row is None:
            return RunGone(self._run)
        return JournalTaken(f"Run {self._run} was taken over by {row[1] or 'another driver'}.")
