"""Faults of a machine, its supervisor, its line or a server, one at a time; and waits without a process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import anyio
import pytest
from anyio import to_thread

from tests.fleet.audit import audit
from tests.fleet.fleet_bench import FleetBench, names, over, until
from tests.fleet.machines import AGENT, DRIVER, WORKER, Machine
from untilgreen.core.loop.receive import Cancel
from untilgreen.core.values.events import Attached, LapVoided, Paused, Resumed
from untilgreen.core.values.model import Outcome
from untilgreen.errors import UserError
from untilgreen.fleet.client import Fleet
from untilgreen.fleet.runs.record import PostgresRecord
from untilgreen.fleet.servers import Postgres, Temporal
from untilgreen.fleet.temporal.orders import Rest

pytestmark = pytest.mark.anyio
TWO, THREE = "test $(wc -l < lines) -ge 2", "test $(wc -l < lines) -ge 3"
LONG, SHORT = 30.0, 2.0
"""Seconds that turns take: longer than any fault, and shorter than most."""


async def taken_over(record: PostgresRecord, by: Machine) -> None:
    """Wait until a driver on that machine is attached."""

    async def found() -> bool:
        attached = [event for event in await record.open_journal().events() if isinstance(event, Attached)]
        return attached[-1].host == by.name

    await until(found)


async def ended_by_hand(fleet: Fleet, record: PostgresRecord) -> None:
    letter = await record.send(Cancel(at=time.time(), by="me", reason="seen"))
    await fleet.knock(record.id)
    assert await record.reply(letter, 30) == ""
    await over(record)


async def test_a_machine_dies(fleet: Fleet, bench: FleetBench) -> None:
    await bench.ready("a", "b")
    records = [await bench.begin(fleet, bench.agent(SHORT), THREE) for _ in range(4)]
    first = await bench.driving(records[0])

    first.die()

    for record in records:
        await over(record)
        await audit(fleet, bench, record)
    hosts = [event.host for event in await records[0].open_journal().events() if isinstance(event, Attached)]
    assert set(hosts) == {"a", "b"}


async def test_the_supervisor_dies_alone_and_its_drivers_hand_over_what_the_turn_left(
    fleet: Fleet, bench: FleetBench
) -> None:
    await bench.ready("a", "b")
    record = await bench.begin(fleet, bench.agent(LONG), TWO)
    first = await bench.driving(record)
    half = bench.notes()[-1]["mark"]
    other = bench.other(first)

    first.tell(signal.SIGKILL, WORKER)
    await taken_over(record, other)

    path = other.home / "cache" / "worktrees" / record.id / "half"
    await until(lambda: path.exists() and half in path.read_text())
    await until(lambda: not first.named(AGENT) and not first.named(DRIVER))
    assert "Traceback" not in first.log()
    await ended_by_hand(fleet, record)
    first.die()
    await audit(fleet, bench, record, Outcome.CANCELLED)


async def test_a_frozen_worker_comes_back_as_a_zombie_and_is_refused(fleet: Fleet, bench: FleetBench) -> None:
    await bench.ready("a", "b")
    record = await bench.begin(fleet, bench.agent(SHORT), THREE)
    first = await bench.driving(record)

    frozen = first.tell(signal.SIGSTOP, WORKER, DRIVER)
    await taken_over(record, bench.other(first))
    for pid in frozen:
        os.kill(pid, signal.SIGCONT)
    await until(lambda: not first.drivers() and not first.named(AGENT))
    await over(record)

    await audit(fleet, bench, record)


async def test_a_driver_that_hangs_does_not_block_its_run_for_long(fleet: Fleet, bench: FleetBench) -> None:
    bench.machine("e", "--label", "single")
    await bench.ready("e")
    record = await bench.begin(fleet, bench.agent(SHORT), TWO, labels={"single": ""})
    machine = await bench.driving(record)

    hung = machine.drivers()
    for pid in hung:
        os.kill(pid, signal.SIGSTOP)
    await until(lambda: "JournalLocked" in machine.log())  # the next attempt, on the same machine
    for pid in hung:
        os.kill(pid, signal.SIGCONT)
    await over(record, 120)

    await audit(fleet, bench, record)
    machine.die()


async def test_a_machine_that_lost_its_connection_ends_its_own_agent(fleet: Fleet, bench: FleetBench) -> None:
    await bench.ready("a", "b")
    record = await bench.begin(fleet, bench.agent(LONG), TWO)
    first = await bench.driving(record)

    first.cut()
    await taken_over(record, bench.other(first))
    await until(lambda: not first.named(AGENT))
    first.heal()
    await ended_by_hand(fleet, record)

    await audit(fleet, bench, record, Outcome.CANCELLED)


@pytest.mark.parametrize("away", [1.5, 8.0], ids=["shorter", "longer"])
async def test_temporal_is_away_for_less_or_more_than_the_heartbeat(
    fleet: Fleet, bench: FleetBench, temporal: Temporal, away: float
) -> None:
    await bench.ready("a", "b")
    records = [await bench.begin(fleet, bench.agent(SHORT), THREE) for _ in range(2)]
    await bench.driving(records[0])

    temporal.stop(signal.SIGKILL)
    await anyio.sleep(away)
    await to_thread.run_sync(temporal.start)

    for record in records:
        await over(record)
        await audit(fleet, bench, record)


async def test_a_run_that_temporal_did_not_take_is_handed_over_later(
    fleet: Fleet, bench: FleetBench, temporal: Temporal
) -> None:
    await bench.ready("a", "b")
    temporal.stop(signal.SIGKILL)
    try:
        with pytest.raises(UserError, match=r"untilgreen resume \w+ --fleet") as refused:
            await bench.begin(fleet, bench.agent(0.1), TWO)
    finally:
        await to_thread.run_sync(temporal.start)
    record = fleet.records.record(str(refused.value).split()[1])

    typed = [sys.executable, "-m", "untilgreen", "resume", record.id, "--fleet"]
    env = {**os.environ, "UNTILGREEN_FLEET": bench.url, "UNTILGREEN_STATE_DIR": str(bench.folder / "person")}
    said = await anyio.run_process(typed, env=env, cwd=bench.folder, check=False, stderr=subprocess.STDOUT)

    assert (said.returncode, b"continues in the fleet" in said.stdout) == (0, True), said.stdout.decode()
    await over(record)
    await audit(fleet, bench, record)
    handle = fleet.client.get_workflow_handle(record.id)
    await handle.result()
    await fleet.knock(record.id)  # the run has ended, so nothing starts
    described = await handle.describe()
    assert described.close_time is not None


@pytest.mark.parametrize("away", [3.0, 12.0], ids=["shorter", "longer"])
async def test_the_database_is_away_for_less_or_more_than_a_driver_waits(
    fleet: Fleet, bench: FleetBench, postgres: Postgres, away: float
) -> None:
    await bench.ready("a", "b")
    records = [await bench.begin(fleet, bench.agent(SHORT), THREE) for _ in range(2)]
    await bench.driving(records[0])

    await to_thread.run_sync(postgres.stop, "immediate")
    await anyio.sleep(away)
    await to_thread.run_sync(postgres.start)

    for record in records:
        await over(record)
        await audit(fleet, bench, record)


async def test_a_rate_limit_costs_no_process_and_ends_by_itself(fleet: Fleet, bench: FleetBench) -> None:
    machines = await bench.ready("a", "b")
    code = Path(__file__).with_name("limited_agent.py")
    (bench.project / code.name).write_text(code.read_text())
    agent = {"use": f"./{code.name}:Limited", "seconds": 6}
    record = await bench.begin(fleet, agent, "test -s lines")
    (bench.project / code.name).unlink()

    async def pauses() -> bool:
        return "Paused" in names(await record.open_journal().events())

    await until(pauses)
    await until(lambda: not any(machine.drivers() for machine in machines))
    assert (await record.load()).state.outcome is None
    await over(record)

    events = await audit(fleet, bench, record)
    paused = next(event for event in events if isinstance(event, Paused))
    resumed = next(event for event in events if isinstance(event, Resumed))
    assert paused.until is not None
    assert resumed.at >= paused.until


async def test_a_question_is_answered_from_elsewhere(fleet: Fleet, bench: FleetBench) -> None:
    machines = await bench.ready("a", "b")
    record = await bench.begin(fleet, bench.agent(0.1), "false", strategy={"use": "manual"})

    async def asks() -> bool:
        asked = (await record.load()).state.asked is not None
        return asked and not any(machine.drivers() for machine in machines)

    await until(asks)
    typed = [sys.executable, "-m", "untilgreen", "answer", record.id, "accept", "--fleet"]
    env = {**os.environ, "UNTILGREEN_FLEET": bench.url, "UNTILGREEN_STATE_DIR": str(bench.folder / "person")}
    said = await anyio.run_process(typed, env=env, cwd=bench.folder, check=False, stderr=subprocess.STDOUT)

    assert said.returncode == 0, said.stdout.decode()
    await over(record)
    await audit(fleet, bench, record, Outcome.ACCEPTED)


async def test_a_run_is_cancelled_through_temporal(fleet: Fleet, bench: FleetBench) -> None:
    await bench.ready("a", "b")
    record = await bench.begin(fleet, bench.agent(LONG), TWO)
    machine = await bench.driving(record)

    await fleet.client.get_workflow_handle(record.id).cancel()
    await until(lambda: not machine.named(AGENT))
    state = await over(record)

    await audit(fleet, bench, record, Outcome.CANCELLED)
    assert state.reason == "cancelled through Temporal"


async def test_a_run_that_waits_is_cancelled_through_temporal(fleet: Fleet, bench: FleetBench) -> None:
    await bench.ready("a")
    record = await bench.begin(fleet, bench.agent(0.1), "false", strategy={"use": "manual"})
    handle = fleet.client.get_workflow_handle(record.id)

    async def asks() -> bool:
        rest: Rest = await handle.query("standing", result_type=Rest)
        return rest.kind == "asks"

    await until(asks)
    await handle.cancel()
    state = await over(record)

    await audit(fleet, bench, record, Outcome.CANCELLED)
    assert state.reason == "cancelled through Temporal"


async def test_a_run_is_cancelled_while_temporal_is_down(
    fleet: Fleet, bench: FleetBench, temporal: Temporal
) -> None:
    await bench.ready("a", "b")
    record = await bench.begin(fleet, bench.agent(LONG), TWO)
    machine = await bench.driving(record)

    temporal.stop(signal.SIGKILL)
    typed = [sys.executable, "-m", "untilgreen", "cancel", record.id, "--fleet"]
    env = {**os.environ, "UNTILGREEN_FLEET": bench.url, "UNTILGREEN_STATE_DIR": str(bench.folder / "person")}
    said = await anyio.run_process(typed, env=env, cwd=bench.folder, check=False, stderr=subprocess.STDOUT)
    await until(lambda: not machine.named(AGENT))
    state = await over(record)
    await to_thread.run_sync(temporal.start)

    assert said.returncode == 0, said.stdout.decode()
    assert state.outcome is Outcome.CANCELLED
    await audit(fleet, bench, record, Outcome.CANCELLED)


async def test_a_worker_that_may_finish_its_turn_does(fleet: Fleet, bench: FleetBench) -> None:
    await bench.ready("a", "b")
    record = await bench.begin(fleet, bench.agent(SHORT * 2), TWO)
    first = await bench.driving(record)

    first.tell(signal.SIGTERM, WORKER)
    await over(record)

    events = await audit(fleet, bench, record)
    assert not [event for event in events if isinstance(event, LapVoided)]
    assert [event.host for event in events if isinstance(event, Attached)] == [
        first.name,
        bench.other(first).name,
    ]
    assert first.wait(30) == 0


async def test_a_worker_that_may_not_finish_its_turn_hands_over_what_it_left(
    fleet: Fleet, bench: FleetBench
) -> None:
    for name in ("c", "d"):
        bench.machine(name, "--grace", "9s", "--label", "brief")
    await bench.ready("c", "d")
    record = await bench.begin(fleet, bench.agent(LONG), TWO, labels={"brief": ""})
    first = await bench.driving(record)
    half = bench.notes()[-1]["mark"]
    other = bench.machines["d" if first.name == "c" else "c"]

    first.tell(signal.SIGTERM, WORKER)
    await taken_over(record, other)

    path = other.home / "cache" / "worktrees" / record.id / "half"
    await until(lambda: path.exists() and half in path.read_text())
    assert await to_thread.run_sync(first.wait, 30) == 0
    await ended_by_hand(fleet, record)
    other.die()
    await audit(fleet, bench, record, Outcome.CANCELLED)
