"""For CHAOS_SECONDS, machines die, freeze and lose their lines, and servers crash, at random."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from random import Random

import anyio
import pytest
from anyio import to_thread

from tests.fleet.audit import audit
from tests.fleet.fleet_bench import FleetBench, over
from tests.fleet.machines import DRIVER, WORKER, Machine
from untilgreen.errors import UntilgreenError
from untilgreen.fleet.client import Fleet
from untilgreen.fleet.runs.record import PostgresRecord
from untilgreen.fleet.servers import Postgres, Temporal

SECONDS = float(os.environ.get("CHAOS_SECONDS", "0"))
AT_ONCE, LINES = 6, 6
pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(not SECONDS, reason="make soak runs it, for an hour"),
    pytest.mark.timeout(SECONDS + 1200),
]


async def die(machine: Machine, seconds: float) -> None:
    machine.die()
    await anyio.sleep(seconds)
    machine.start()


async def lose_the_supervisor(machine: Machine, seconds: float) -> None:
    machine.tell(signal.SIGKILL, WORKER)
    await anyio.sleep(seconds)
    await die(machine, 0.5)


async def freeze(machine: Machine, seconds: float) -> None:
    frozen = machine.tell(signal.SIGSTOP, WORKER, DRIVER)
    await anyio.sleep(seconds * 1.5)
    for pid in frozen:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)


async def cut(machine: Machine, seconds: float) -> None:
    machine.cut()
    await anyio.sleep(seconds * 2)
    machine.heal()


async def test_whatever_happens_no_event_is_lost_and_every_run_ends_as_it_should(
    fleet: Fleet, bench: FleetBench, postgres: Postgres, temporal: Temporal
) -> None:
    seed = int(os.environ.get("CHAOS_SEED", time.time_ns() % 1_000_000))
    chance, machines = Random(seed), await bench.ready("a", "b", "c")
    records: list[PostgresRecord] = []
    faults: list[str] = []

    async def crash_temporal(machine: Machine, seconds: float) -> None:
        temporal.stop(signal.SIGKILL)
        await anyio.sleep(seconds)
        await to_thread.run_sync(temporal.start)

    async def crash_postgres(machine: Machine, seconds: float) -> None:
        await to_thread.run_sync(postgres.stop, "immediate")
        await anyio.sleep(seconds / 2)
        await to_thread.run_sync(postgres.start)

    async def keep_starting() -> None:
        until = time.monotonic() + SECONDS
        while time.monotonic() < until:
            with suppress(UntilgreenError):
                opened = [each for each in records if (await each.load()).state.outcome is None]
                if len(opened) < AT_ONCE:
                    gate = f"test $(wc -l < lines) -ge {LINES}"
                    records.append(await bench.begin(fleet, bench.agent(1.0), gate))
            await anyio.sleep(0.5)

    kinds = (die, lose_the_supervisor, freeze, cut, crash_temporal, crash_postgres)
    async with anyio.create_task_group() as group:
        group.start_soon(keep_starting)
        until = time.monotonic() + SECONDS
        while time.monotonic() < until:
            await anyio.sleep(chance.uniform(1.0, 5.0))
            kind = chance.choice(kinds)
            faults.append(kind.__name__)
            await kind(chance.choice(machines), chance.uniform(0.5, 6.0))

    print(f"seed {seed}: {len(faults)} faults, {len(records)} runs")
    for record in records:
        await over(record, 300)
        await audit(fleet, bench, record)
    assert records
    assert faults
