"""A sender who records commands for a run without a driver outranks its last driver, but not its next one."""

from __future__ import annotations

import time
from itertools import count

import pytest

from untilgreen.core.loop.receive import Cancel, Steer
from untilgreen.core.strategies.ralph import Ralph
from untilgreen.core.values.driver import Driver
from untilgreen.core.values.events import RunFinished
from untilgreen.core.values.model import Outcome
from untilgreen.errors import JournalTaken
from untilgreen.fleet.overview import _told
from untilgreen.fleet.runs.record import PostgresRecord
from untilgreen.fleet.runs.records import BEGINNING
from untilgreen.fleet.runs.undriven import settle
from untilgreen.fleet.servers import Postgres
from untilgreen.journal.postgres.database import Database
from untilgreen.journal.postgres.notices import Notices
from untilgreen.testing.stories import tell

pytestmark = pytest.mark.anyio
NUMBERS = count(1)
EVENTS = [event for _, event in tell("ab a* -*", Ralph())]


async def begun(postgres: Postgres, *tokens: tuple[int, ...]) -> PostgresRecord:
    """A run that was driven with these tokens, one after another, and that nobody drives now."""
    run, database = f"undriven{next(NUMBERS)}", Database(postgres.url)
    database.run(lambda connection: connection.execute("INSERT INTO $schema.run (id) VALUES (%s)", (run,)))
    record = PostgresRecord(database, Notices(postgres.url), run)
    for number, token in enumerate((BEGINNING, *tokens)):
        async with another(record, token).hold(Driver(place="a")) as hold:
            await hold.journal.append(EVENTS[number])
    return record


def another(record: PostgresRecord, token: tuple[int, ...]) -> PostgresRecord:
    return PostgresRecord(record._database, record._notices, record.id, token=token)


async def test_a_run_that_was_never_driven_is_ended_by_the_sender_of_the_command(postgres: Postgres) -> None:
    record = await begun(postgres)
    noted = await record.send(Steer(at=time.time(), by="me", id="n1", note="look"))
    ended = await record.send(Cancel(at=time.time(), by="me", reason="enough"))

    state = await settle(record, never_driven=True)

    assert state is not None
    assert (state.outcome, state.reason, len(state.notes)) == (Outcome.CANCELLED, "enough", 1)
    assert (await record.reply(noted, 1), await record.reply(ended, 1)) == ("", "")
    assert await record.driver() is None


async def test_a_run_that_is_driven_is_left_to_its_driver(postgres: Postgres) -> None:
    record = await begun(postgres)
    letter = await record.send(Cancel(at=time.time(), by="me"))

    async with another(record, (5, 1, 1)).hold(Driver(place="a")) as hold:
        assert await settle(record) is None
        await hold.journal.append(EVENTS[1])

    assert await settle(record, never_driven=True) is None
    assert await record.reply(letter, 0.1) is None


async def test_a_driver_that_starts_meanwhile_overtakes_it(postgres: Postgres) -> None:
    record = await begun(postgres, (5, 1, 1))

    async with record.hold_undriven() as held:
        assert held is not None
        async with another(record, (5, 1, 2)).hold(Driver(place="a")) as driver:
            with pytest.raises(JournalTaken):
                await held[1].journal.append(EVENTS[2])
            await driver.journal.append(EVENTS[2])

    assert RunFinished not in [type(event) for event in await record.open_journal().events()]
    assert (await record.load()).seq == 3


async def test_a_command_that_a_sender_records_is_not_a_takeover(postgres: Postgres) -> None:
    record = await begun(postgres, (5, 1, 1), (5, 1, 2))
    await record.send(Cancel(at=time.time(), by="me"))
    await settle(record)

    found = record._database.run(_told).takeovers

    assert [each.run for each in found].count(record.id) == 1


async def test_the_previous_driver_can_no_longer_write_at_the_same_time(postgres: Postgres) -> None:
    record = await begun(postgres)
    zombie = another(record, (5, 1, 1))
    async with zombie.hold(Driver(place="a")) as old:
        stale = "UPDATE $schema.run SET seen = now() - interval '2 minutes' WHERE id = %s RETURNING 1"
        await record._rows(stale, record.id)  # silent for longer than a driver may be
        async with record.hold_undriven() as held:
            assert held is not None
            with pytest.raises(JournalTaken):
                await old.journal.append(EVENTS[1])
