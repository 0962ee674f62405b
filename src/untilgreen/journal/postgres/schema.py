"""The tables and roles of a fleet: created once, checked by everybody else."""

from __future__ import annotations

import re
from importlib.resources import files

import psycopg

from untilgreen.errors import UserError
from untilgreen.journal.postgres.database import Connection, Database, split_url

WORKER, VIEWER = "worker", "viewer"
"""The two roles of a fleet: one drives and sends commands, one only reads."""
_LOCK = 7_423_511


def migrate(database: Database) -> int:
    """Bring the schema up to date, safely if several start at once; returns the new version."""

    def work(connection: Connection) -> int:
        with connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
            known = "SELECT 1 FROM pg_namespace WHERE nspname = '$schema'"
            if connection.execute(known).fetchone() is None:  # its owner may not be allowed to create another
                connection.execute("CREATE SCHEMA $schema")
            connection.execute("CREATE TABLE IF NOT EXISTS $schema.version (number integer NOT NULL)")
            row = connection.execute("SELECT max(number) FROM $schema.version").fetchone()
            done = (row and row[0]) or 0
            for number, step in _steps():
                if number > done:
                    connection.execute(step.encode())
                    connection.execute("INSERT INTO $schema.version VALUES (%s)", (number,))
            return max(done, _steps()[-1][0])

    return database.run(work)


def check_version(database: Database) -> None:
    """Check that the schema is new enough; a worker creates no tables, so its role needs no right to."""
    needed = _steps()[-1][0]

    def work(connection: Connection) -> int:
        try:
            row = connection.execute("SELECT max(number) FROM $schema.version").fetchone()
        except (psycopg.errors.UndefinedTable, psycopg.errors.InvalidSchemaName):
            return 0
        return (row and row[0]) or 0

    found = database.run(work)
    if found < needed:
        raise UserError(
            f"The fleet's database has schema version {found}, and this untilgreen needs {needed}. "
            "Bring it up to date, as its owner: untilgreen fleet init URL --temporal HOST:PORT"
        )


def make_roles(database: Database) -> tuple[str, str]:
    """Roles without login that others are made members of: `SCHEMA_worker` and `SCHEMA_viewer`."""
    grants = (files(__package__) / "roles.sql").read_text()

    def work(connection: Connection) -> None:
        with connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
            for role in (role_of(database, WORKER), role_of(database, VIEWER)):
                if (
                    connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (role,)).fetchone()
                    is None
                ):
                    connection.execute(f"CREATE ROLE {role} NOLOGIN".encode())
            connection.execute(grants.encode())

    database.run(work)
    return role_of(database, WORKER), role_of(database, VIEWER)


def role_of(database: Database, what: str) -> str:
    """The name of this fleet's role for workers or viewers."""
    return f"{split_url(database.url)[1]}_{what}"


def _steps() -> list[tuple[int, str]]:
    return sorted(
        (int(found[1]), each.read_text())
        for each in files(__package__).iterdir()
        if (found := re.fullmatch(r"(\d{4})\.sql", each.name))
    )
