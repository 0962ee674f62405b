"""The overview of a fleet, from Temporal and PostgreSQL."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import httpx
import msgspec
import pytest
from anyio import to_thread

from tests.fleet.fleet_bench import FleetBench, over, until
from tests.fleet.test_commands import Typed
from tests.surfaces.cli.verbs.test_schema import OUTPUT
from tests.surfaces.web.helpers import HOST, TOKEN, at_once
from untilgreen.core.values.fleet_view import FleetView
from untilgreen.fleet.client import Fleet
from untilgreen.fleet.overview import overview
from untilgreen.fleet.servers import Temporal
from untilgreen.fleet.temporal.orders import Identity, queue_of
from untilgreen.surfaces.text.fleet_overview import fleet_lines
from untilgreen.surfaces.web.application import application
from untilgreen.surfaces.web.backend import opened

pytestmark = pytest.mark.anyio
TWO = "test $(wc -l < lines) -ge 2"


@pytest.mark.parametrize(
    "who", [Identity("host-1a2b3c", 4, ("gpu", "arm")), Identity("host-1a2b3c", 1), Identity("x")]
)
def test_a_worker_says_who_it_is(who: Identity) -> None:
    assert Identity.read(str(who)) == who


def test_another_program_s_poller_has_a_name_at_least() -> None:
    assert Identity.read("12@host slots=many") == Identity("12@host")


async def test_workers_queues_and_who_drives_what(fleet: Fleet, bench: FleetBench) -> None:
    bench.machine("plain")
    bench.machine("fpga", "--label", "fpga")
    await bench.ready("plain", "fpga")
    record = await bench.begin(fleet, bench.agent(30), TWO, labels={"fpga": ""})
    queued = await bench.begin(fleet, bench.agent(30), TWO, labels={"arm": ""})
    await bench.driving(record)

    async def seen() -> FleetView | None:
        found = await overview(bench.url)
        arm = [each for each in found.queues if each.labels == ("arm",)]
        return found if arm and arm[0].waiting else None

    found: FleetView = await until(seen)

    workers = {each.name.rpartition("-")[0]: each for each in found.workers}
    plain, fpga = workers["plain"], workers["fpga"]
    assert (plain.slots, plain.labels, plain.drives) == (8, (), ())
    assert (fpga.slots, fpga.labels, fpga.drives) == (8, ("fpga",), (record.id,))
    queues = {each.name: each for each in found.queues}
    assert set(queues[queue_of([])].workers) >= {plain.name, fpga.name}
    assert (queues[queue_of(["fpga"])].workers, queues[queue_of(["fpga"])].waiting) == ((fpga.name,), 0)
    assert (queues[queue_of(["arm"])].workers, queues[queue_of(["arm"])].waiting) == ((), 1)
    driven = {each.run: each for each in found.driven}
    assert (driven[record.id].worker, driven[record.id].drive, driven[record.id].attempt) == (fpga.name, 1, 1)
    assert driven[record.id].title == "Do it."
    assert queued.id not in driven
    assert found.resting >= 1
    assert found.temporal == ""
    await bench.end_runs(fleet, record, queued)


async def test_a_takeover_says_from_whom_to_whom(fleet: Fleet, bench: FleetBench) -> None:
    await bench.ready("plain", "other")
    record = await bench.begin(fleet, bench.agent(1), TWO)
    first = await bench.driving(record)

    first.die()
    await over(record)

    found = await overview(bench.url)
    (takeover,) = [each for each in found.takeovers if each.run == record.id]
    assert takeover.before.startswith(f"{first.name}-")
    others = [each.name for each in bench.machines.values() if each is not first]  # also of other tests
    assert takeover.after.rpartition("-")[0] in others
    assert f"{record.id} from {takeover.before} to {takeover.after}" in "\n".join(fleet_lines(found))
    assert record.id not in [each.run for each in found.driven]


async def test_a_limit_says_who_has_a_permit_and_who_waits(fleet: Fleet, bench: FleetBench) -> None:
    await bench.ready("plain", "other")
    await fleet.limit("narrow", 1)
    await fleet.records.set("limit:narrow", "1")
    records = [await bench.begin(fleet, bench.agent(30), TWO, limit="narrow") for _ in range(2)]

    async def full() -> bool:
        (limit,) = [each for each in (await overview(bench.url)).limits if each.agent == "narrow"]
        return limit.known and len(limit.holders) == 1 and len(limit.waiting) == 1

    await until(full)
    (limit,) = [each for each in (await overview(bench.url)).limits if each.agent == "narrow"]
    assert {*limit.holders, *limit.waiting} == {each.id for each in records}
    assert limit.most == 1
    await bench.end_runs(fleet, *records)


async def test_the_list_shows_a_driven_run_as_it_is_now(fleet: Fleet, bench: FleetBench) -> None:
    await bench.ready("plain")
    record = await bench.begin(fleet, bench.agent(1), "test $(wc -l < lines) -ge 4")

    async def shown() -> bool:
        rows = {run: row async for run, row in fleet.records.rows()}
        return rows[record.id].status == "running" and rows[record.id].laps >= 1

    await until(shown)
    await over(record)


async def test_without_temporal_it_is_what_the_database_knows(
    fleet: Fleet, bench: FleetBench, temporal: Temporal, home: Path
) -> None:
    await bench.ready("plain")
    record = await bench.begin(fleet, bench.agent(30), TWO)
    machine = await bench.driving(record)
    temporal.stop(signal.SIGKILL)
    try:
        found = await overview(bench.url)
        typed = Typed(home, home / "overview-state")
        typed.env["UNTILGREEN_FLEET"] = bench.url
        code, said = await to_thread.run_sync(typed, "fleet", "workers", "--json")
        _, text = await to_thread.run_sync(typed, "fleet", "workers")
        log = machine.log()
    finally:
        await to_thread.run_sync(temporal.start)

    (worker,) = [each for each in found.workers if each.name.startswith(f"{machine.name}-")]
    assert (worker.slots, worker.drives, found.queues) == (0, (record.id,), ())
    assert "Temporal" in found.temporal
    printed = json.loads(said.splitlines()[-1])
    assert all(OUTPUT.is_valid(json.loads(each)) for each in said.splitlines()), said
    assert (code, printed["type"]) == (0, "fleet"), said
    assert [each["run"] for each in printed["fleet"]["driven"]] == [each.run for each in found.driven]
    assert text.startswith("Temporal can't be reached"), text
    assert f"1 driven: {record.id}" in text, log
    await bench.end_runs(fleet, record)


async def test_the_page_shows_it_through_the_api(fleet: Fleet, bench: FleetBench, tmp_path: Path) -> None:
    bench.machine("shown")
    await bench.ready("shown")

    async with opened(tmp_path / "state", fleet=bench.url) as service:
        app = application(at_once(service), hosts={HOST}, token=TOKEN, me="ann")
        transport = httpx.ASGITransport(app=app)
        headers = {"authorization": f"Bearer {TOKEN}"}
        async with httpx.AsyncClient(
            transport=transport, base_url=f"http://{HOST}", headers=headers
        ) as client:

            async def named() -> bool:  # Temporal lists a worker a moment after its first poll
                answer = await client.get("/api/v1/fleet")
                assert answer.status_code == 200, answer.text
                found = msgspec.json.decode(answer.content, type=FleetView)
                return "shown" in {each.name.rpartition("-")[0] for each in found.workers}

            await until(named)
