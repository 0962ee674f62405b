"""A run in PostgreSQL obeys the same laws as one in a folder, and only its newest driver can write."""

from __future__ import annotations

from itertools import count
from pathlib import Path

import anyio
import pytest

from untilgreen.core.loop.receive import Stop
from untilgreen.core.strategies.ralph import Ralph
from untilgreen.core.values.driver import Driver
from untilgreen.engine.store.runs import Store
from untilgreen.errors import JournalDamaged, JournalLocked, JournalTaken
from untilgreen.fleet.runs.mirror import export
from untilgreen.fleet.runs.record import PostgresRecord
from untilgreen.fleet.runs.records import PostgresRecords
from untilgreen.fleet.servers import Postgres
from untilgreen.journal.codec import decode
from untilgreen.journal.postgres.database import Database
from untilgreen.journal.postgres.journal import PostgresJournal
from untilgreen.journal.postgres.notices import Notices
from untilgreen.journal.postgres.schema import migrate
from untilgreen.testing import journal_laws, record_laws
from untilgreen.testing.stories import tell

pytestmark = pytest.mark.anyio
NUMBERS = count(1)
EVENTS = [event for _, event in tell("ab a* -*", Ralph())]


def new_run(postgres: Postgres) -> str:
    run, database = f"law{next(NUMBERS)}", Database(postgres.url)
    database.run(lambda connection: connection.execute("INSERT INTO $schema.run (id) VALUES (%s)", (run,)))
    database.close()
    return run


def opened(postgres: Postgres, run: str, token: tuple[int, ...] = ()) -> PostgresRecord:
    return PostgresRecord(Database(postgres.url), Notices(postgres.url), run, token=token)


async def test_a_run_in_postgresql_holds_to_the_laws_of_records(postgres: Postgres, tmp_path: Path) -> None:
    run = new_run(postgres)

    await record_laws(lambda: opened(postgres, run), tmp_path)


async def test_a_run_in_a_folder_holds_to_the_same_laws(tmp_path: Path) -> None:
    store = Store(tmp_path / "state")
    run = store.create(1.0, workspace=tmp_path).id

    await record_laws(lambda: store.record(run), tmp_path)


async def test_the_journal_holds_to_the_laws_of_journals(postgres: Postgres) -> None:
    run = new_run(postgres)

    await journal_laws(lambda: PostgresJournal(Database(postgres.url), run, (), Notices(postgres.url)))


async def test_its_rows_joined_are_a_valid_journal(postgres: Postgres) -> None:
    run = new_run(postgres)
    async with opened(postgres, run).hold(Driver(place="a", token=(1,))) as hold:
        for event in EVENTS:
            await hold.journal.append(event)
    select = "SELECT line FROM $schema.event WHERE run = %s ORDER BY seq"
    rows = Database(postgres.url).run(lambda connection: connection.execute(select, (run,)).fetchall())

    events, end = decode(b"".join(bytes(row[0]) for row in rows))

    assert events == EVENTS
    assert end.head == (await opened(postgres, run).load()).head


async def test_a_zombie_can_neither_append_nor_keep_nor_answer_nor_come_back(
    postgres: Postgres, tmp_path: Path
) -> None:
    run = new_run(postgres)
    (tmp_path / "out").write_text("late")
    zombie = opened(postgres, run, token=(1, 1))
    letter = await opened(postgres, run).send(Stop(at=1.0, by="me"))
    async with zombie.hold(Driver(place="a")) as old:
        await old.journal.append(EVENTS[0])
        async with opened(postgres, run, token=(1, 2)).hold(Driver(place="b")) as new:
            with pytest.raises(JournalTaken):  # nothing was appended meanwhile, so only the token shows it
                await old.journal.append(EVENTS[1])
            await new.journal.append(EVENTS[1])

            with pytest.raises(JournalTaken, match="taken over by b"):
                await old.journal.append(EVENTS[1])
            with pytest.raises(JournalTaken):
                await zombie.keep("output/x", tmp_path / "out")
            with pytest.raises(JournalTaken):
                await zombie.answered(letter, "a dead driver's word")
            with pytest.raises(JournalTaken):
                await zombie.check()
            await zombie.note((await zombie.load()).state)
            with pytest.raises(JournalLocked, match="driven by b"):
                async with opened(postgres, run, token=(1, 1)).hold(Driver(place="a")):
                    pass

    assert (await opened(postgres, run).load()).seq == 2
    assert await opened(postgres, run).kept("output/x") is None
    assert run not in [listed async for listed, _ in PostgresRecords(postgres.url).rows()]
    assert await opened(postgres, run).reply(letter, 0.1) is None


@pytest.mark.parametrize("name", ["../../.profile", "/etc/profile", "code/../../x"])
async def test_a_file_whose_name_leads_out_of_the_run_is_written_nowhere(
    postgres: Postgres, tmp_path: Path, name: str
) -> None:
    """Every worker of the fleet writes names, and a reader turns them into paths."""
    run = new_run(postgres)
    driver = opened(postgres, run)
    async with driver.hold(Driver(place="a", token=(1,))) as hold:
        await hold.journal.append(EVENTS[0])
        await driver.keep_bytes(name, b"theirs")

    with pytest.raises(JournalDamaged, match="leads out of the folder of the run"):
        await export(opened(postgres, run), tmp_path / "a" / "copy")

    assert [each async for each in anyio.Path(tmp_path).rglob("*") if await each.is_file()] == []


async def test_no_event_is_lost_or_doubled_while_connections_are_cut(postgres: Postgres) -> None:
    run = new_run(postgres)
    cutter = Database(postgres.url)
    cut = (
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
        "WHERE pid <> pg_backend_pid() AND application_name = 'untilgreen'"
    )

    async def keep_cutting() -> None:
        while True:
            await cutter.call(lambda connection: connection.execute(cut).fetchone())
            await anyio.sleep(0.02)

    async with (
        opened(postgres, run).hold(Driver(place="a", token=(1,))) as hold,
        anyio.create_task_group() as group,
    ):
        group.start_soon(keep_cutting)
        for _ in range(40):
            await hold.journal.append(EVENTS[0])
        group.cancel_scope.cancel()

    assert len(await opened(postgres, run).open_journal().events()) == 40


async def test_the_schema_is_made_once_even_if_several_start_at_the_same_time(postgres: Postgres) -> None:
    versions: list[int] = []

    async def come() -> None:
        versions.append(await anyio.to_thread.run_sync(migrate, Database(postgres.url)))

    async with anyio.create_task_group() as group:
        for _ in range(4):
            group.start_soon(come)

    assert len(set(versions)) == 1
