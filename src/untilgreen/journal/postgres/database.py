"""One connection to PostgreSQL that is reopened after a failure.

Synchronous psycopg in threads keeps the engine independent of the kind of event loop, as files do. Nothing
depends on a session, so a pooler may give each transaction a different connection.
"""

from __future__ import annotations

import os
import re
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import Any, TypeVar
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

import psycopg
from anyio import to_thread

from untilgreen.errors import JournalError, UserError

PATIENCE_SECONDS = 60.0
"""How long a write waits for an unreachable database."""
ANSWER_SECONDS = 5.0
"""How long until a silent server counts as unreachable; libpq itself would wait forever."""
SCHEMA = "untilgreen"
"""The schema of a fleet's tables, unless its URL has `?schema=NAME`."""
_PLACE = "$schema"
"""The placeholder in SQL statements."""
_PARAMETERS: dict[str, Any] = {
    "autocommit": True,
    "prepare_threshold": None,  # a prepared statement belongs to a session
    "connect_timeout": 3,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
}
Connection = Any
"""A connection of psycopg, which need not be installed to check types."""
_T = TypeVar("_T")


class DatabaseAway(JournalError):
    """The database can't be reached."""


class NotAllowed(UserError):
    """Our database role has no right to do that."""


def split_url(url: str) -> tuple[str, str]:
    """The part of a fleet's URL that PostgreSQL understands, and the schema that it names."""
    parts = urlsplit(url)
    if parts.scheme not in {"postgresql", "postgres"}:
        raise UserError("A fleet's URL must begin with postgresql://. Check UNTILGREEN_FLEET.")
    asked = parse_qsl(parts.query, keep_blank_values=True)
    schema = next((value for name, value in asked if name == "schema"), SCHEMA)
    if not re.fullmatch("[a-z_][a-z0-9_]{0,40}", schema) or schema.startswith("pg_"):
        raise UserError(
            f"{schema!r} can't be the schema of a fleet. "
            "Use at most 41 lower-case letters, digits and underscores."
        )
    others = urlencode([(name, value) for name, value in asked if name != "schema"])
    return urlunsplit(parts._replace(query=others)), schema


def connect(url: str, name: str = "untilgreen", **parameters: Any) -> Connection:
    """A connection that reads `$schema` in a statement as the fleet's own schema."""
    address, schema = split_url(url)
    return psycopg.connect(
        address, application_name=name, cursor_factory=_cursor_in(schema), **{**_PARAMETERS, **parameters}
    )


@cache
def _cursor_in(schema: str) -> Any:
    class Cursor(psycopg.Cursor[Any]):
        def execute(self, query: Any, *values: Any, **options: Any) -> Any:
            return super().execute(_placed(query, schema), *values, **options)

        def executemany(self, query: Any, *values: Any, **options: Any) -> None:
            super().executemany(_placed(query, schema), *values, **options)

    return Cursor


@cache
def _placed(statement: str | bytes, schema: str) -> bytes:
    text = statement if isinstance(statement, bytes) else statement.encode()
    return text.replace(_PLACE.encode(), schema.encode())


class Database:
    """One connection, which reconnects when it breaks."""

    def __init__(self, url: str, patience: float = PATIENCE_SECONDS) -> None:
        """`patience` is how long a call waits for an unreachable server."""
        self.url = url
        self._patience = patience
        self._connection: Connection | None = None
        self._door = threading.Lock()
        self._since: float | None = None
        self._guard: threading.Thread | None = None

    async def call(self, work: Callable[[Connection], _T], patience: float | None = None) -> _T:
        """`run` in a thread."""
        return await to_thread.run_sync(self.run, work, patience)

    def run(self, work: Callable[[Connection], _T], patience: float | None = None) -> _T:
        """Run it, and again if the connection breaks: `work` must notice if it was already done."""
        until = time.monotonic() + (self._patience if patience is None else patience)
        pause = 0.05
        with self._door:
            while True:
                try:
                    return self._watched(work)
                except psycopg.errors.InsufficientPrivilege as error:
                    schema = split_url(self.url)[1]
                    raise NotAllowed(
                        f"Your role in the fleet's database may not do that: {_first_line(error)}. Ask the "
                        f"owner for {schema}_worker, to drive and command runs, or {schema}_viewer, to look."
                    ) from error
                except (psycopg.OperationalError, psycopg.InterfaceError) as error:
                    self._drop()
                    if time.monotonic() > until:
                        raise DatabaseAway(
                            f"The fleet's database can't be reached: {_first_line(error)}. "
                            "Check that it is running; the run then continues on its own."
                        ) from error
                _ = threading.Event().wait(pause)
                pause = min(pause * 2, 1.0)

    def close(self) -> None:
        """End the connection; the next call makes another."""
        with self._door:
            self._drop()

    def _watched(self, work: Callable[[Connection], _T]) -> _T:
        if self._connection is None or self._connection.closed:
            self._connection = connect(self.url, tcp_user_timeout=10_000)
        if self._guard is None:
            self._guard = threading.Thread(target=self._wake_from_dead_lines, daemon=True)
            self._guard.start()
        self._since = time.monotonic()
        try:
            return work(self._connection)
        finally:
            self._since = None

    def _wake_from_dead_lines(self) -> None:
        """Wake threads that wait on a dead connection by closing its socket."""
        while True:
            threading.Event().wait(0.5)
            since, connection = self._since, self._connection
            if since is not None and connection is not None and time.monotonic() - since > ANSWER_SECONDS:
                with suppress(Exception), socket.socket(fileno=os.dup(connection.fileno())) as line:
                    line.shutdown(socket.SHUT_RDWR)

    def _drop(self) -> None:
        if self._connection is not None:
            with suppress(Exception):
                self._connection.close()
        self._connection = None


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0].rstrip(".") if lines else type(error).__name__
