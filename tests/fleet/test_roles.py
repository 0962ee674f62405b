"""A viewer can't write, a worker can't change the past, and neither sees another team's schema."""

from __future__ import annotations

import pytest

from untilgreen.core.strategies.ralph import Ralph
from untilgreen.core.values.driver import Driver
from untilgreen.core.values.events import RunStarted
from untilgreen.errors import UserError
from untilgreen.fleet.runs.records import PostgresRecords
from untilgreen.fleet.servers import Postgres
from untilgreen.journal.postgres.database import Database, NotAllowed
from untilgreen.journal.postgres.schema import check_version, make_roles, migrate
from untilgreen.testing.stories import tell

pytestmark = pytest.mark.anyio
STORY = [event for _, event in tell("ab a* -*", Ralph())]


@pytest.fixture(scope="module", autouse=True)
def teams(postgres: Postgres) -> None:
    """Two fleets in one database, each with a worker and a viewer who can log in."""
    for team in ("red", "blue"):
        owner = Database(url(postgres, team))
        migrate(owner)
        worker, viewer = make_roles(owner)
        assert make_roles(owner) == (worker, viewer) == (f"{team}_worker", f"{team}_viewer")
        for name, role in ((f"{team}_machine", worker), (f"{team}_person", viewer)):
            sql = f"CREATE ROLE {name} LOGIN IN ROLE {role}".encode()
            owner.run(lambda connection, sql=sql: connection.execute(sql))  # type: ignore[misc]
        owner.close()


def url(postgres: Postgres, team: str, user: str = "untilgreen") -> str:
    return postgres.url.replace("untilgreen@", f"{user}@") + f"?schema={team}"


async def begun(records: PostgresRecords) -> str:
    async def nothing(record: object) -> None:
        pass

    first = STORY[0]
    assert isinstance(first, RunStarted)
    return (await records.begin(first.plan, 1.0, code={}, prepare=nothing)).id


def refused(database: Database, statement: str) -> None:
    with pytest.raises(NotAllowed, match="may not do that: permission denied"):
        database.run(lambda connection: connection.execute(statement.encode()))


async def test_a_worker_s_role_is_enough_to_begin_drive_and_command(postgres: Postgres) -> None:
    records = PostgresRecords(url(postgres, "red", "red_machine"))
    check_version(records.database)
    run = await begun(records)

    record = records.record(run, (1,))
    async with record.hold(Driver(place="a")) as hold:
        for event in STORY[1:]:
            await hold.journal.append(event)
    await record.note((await record.load()).state)

    assert run in [run async for run, _ in records.rows()]


async def test_a_worker_can_neither_rewrite_nor_remove_what_happened(postgres: Postgres) -> None:
    records = PostgresRecords(url(postgres, "red", "red_machine"))
    run = await begun(records)

    refused(records.database, "UPDATE $schema.event SET line = ''")
    refused(records.database, "DELETE FROM $schema.event")
    refused(records.database, "UPDATE $schema.setting SET value = 'elsewhere:7233'")
    refused(records.database, "CREATE TABLE $schema.mine ()")
    await records.remove(run)

    assert (await records.record(run).load()).seq == 1


async def test_a_viewer_reads_everything_and_writes_nothing(postgres: Postgres) -> None:
    run = await begun(PostgresRecords(url(postgres, "red", "red_machine")))
    records = PostgresRecords(url(postgres, "red", "red_person"))

    assert (await records.record(run).load()).state.run == run
    assert run in [run async for run, _ in records.rows()]
    for statement in (
        "INSERT INTO $schema.run (id) VALUES ('x')",
        "UPDATE $schema.run SET holder = 'me'",
        "DELETE FROM $schema.run",
        "INSERT INTO $schema.event (run, seq, token, line) VALUES ('x', 1, '{1}', '')",
        "INSERT INTO $schema.arrival (run, at, body) VALUES ('x', 1, '')",
        "DELETE FROM $schema.artifact",
        "UPDATE $schema.setting SET value = ''",
    ):
        refused(records.database, statement)


@pytest.mark.parametrize("user", ["red_machine", "red_person"])
async def test_no_role_of_a_team_sees_another_team(postgres: Postgres, user: str) -> None:
    database = Database(url(postgres, "blue", user))

    for table in ("run", "event", "arrival", "artifact", "shown", "setting", "version"):
        refused(database, f"SELECT 1 FROM $schema.{table}")
    with pytest.raises(NotAllowed, match="Ask the owner for blue_worker"):
        check_version(database)


async def test_notices_of_one_team_are_not_sent_to_another(postgres: Postgres) -> None:
    listener = Database(url(postgres, "blue"))
    listener.run(lambda connection: connection.execute("LISTEN $schema"))
    red = PostgresRecords(url(postgres, "red", "red_machine"))
    blue = PostgresRecords(url(postgres, "blue", "blue_machine"))

    await begun(red)
    expected = await begun(blue)

    heard = listener.run(lambda connection: [each.payload for each in connection.notifies(timeout=1.0)])
    assert set(heard) == {expected}


async def test_a_database_of_an_older_version_is_named_with_the_command(postgres: Postgres) -> None:
    with pytest.raises(UserError, match=r"schema version 0, and this untilgreen needs 1.*fleet init"):
        check_version(Database(url(postgres, "green")))


@pytest.mark.parametrize("schema", ["Robert'); DROP TABLE run;--", "pg_catalog", "", "a" * 42])
def test_only_plain_names_are_schemas(postgres: Postgres, schema: str) -> None:
    with pytest.raises(UserError, match="can't be the schema"):
        migrate(Database(url(postgres, schema)))
