"""A fleet's runs through the API of the page: listed, opened, followed, answered, steered and ended."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from tests.fleet.audit import audit
from tests.fleet.fleet_bench import FleetBench, over, until
from tests.surfaces.web.helpers import HOST, TOKEN, at_once, keep
from untilgreen.core.loop.receive import Cancel
from untilgreen.core.values.events import Answered
from untilgreen.core.values.model import Outcome
from untilgreen.engine.store.runs import Store
from untilgreen.fleet.client import Fleet
from untilgreen.fleet.runs.record import PostgresRecord
from untilgreen.fleet.servers import Postgres, free_port
from untilgreen.surfaces.web.application import application
from untilgreen.surfaces.web.backend import opened

pytestmark = pytest.mark.anyio


@pytest.fixture
async def client(bench: FleetBench, tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    """A client with the token of a server that shows the fleet."""
    async for each in served(tmp_path / "state", bench.url):
        yield each


async def served(state_dir: Path, url: str) -> AsyncIterator[httpx.AsyncClient]:
    async with opened(state_dir, fleet=url) as service:
        app = application(at_once(service), hosts={HOST}, token=TOKEN, me="ann")
        transport = httpx.ASGITransport(app=app)
        headers = {"authorization": f"Bearer {TOKEN}"}
        async with httpx.AsyncClient(
            transport=transport, base_url=f"http://{HOST}/api/v1", headers=headers, timeout=60
        ) as client:
            yield client


async def asking(fleet: Fleet, bench: FleetBench) -> PostgresRecord:
    """A run with one lap that waits for an answer."""
    record = await bench.begin(fleet, bench.agent(0.1), "test $(wc -l < lines) -ge 2", strategy="manual")

    async def asks() -> bool:
        rows = {run: row async for run, row in fleet.records.rows()}
        return bool(rows[record.id].question_id) and await record.driver() is None

    await until(asks)
    return record


async def test_a_run_of_the_fleet_is_seen_steered_and_answered(
    fleet: Fleet, bench: FleetBench, client: httpx.AsyncClient, tmp_path: Path
) -> None:
    await bench.ready("one")
    here = await keep(Store(tmp_path / "state"), tmp_path, "green")
    record = await asking(fleet, bench)
    run = record.id

    listed = (await client.get("/runs")).json()
    rows = {row["run"]: row for row in listed["runs"]}
    assert (rows[run]["workspace"], rows[run]["status"], rows[run]["laps"]) == (
        str(bench.remote),
        "waiting",
        1,
    )
    assert rows[here]["workspace"] == str(tmp_path)
    assert (listed["total"], listed["missing"]) == (len(rows), "")
    (question,) = [each for each in (await client.get("/inbox")).json()["questions"] if each["run"] == run]
    seen = (await client.get(f"/runs/{run}")).json()
    assert (seen["fleet"], seen["laps"], seen["question"]["id"]) == (True, 1, question["id"])
    lap = (await client.get(f"/runs/{run}/laps/1")).json()
    assert (lap["missing"], "Do it." in lap["brief"]) == ("", True)
    assert "+++ b/lines" in lap["diff"]["text"]
    assert "+++ b/lines" in (await client.get(f"/runs/{run}/report", params={"format": "md"})).text

    about = {"lap": 1, "file": "lines", "first": 1, "last": 1, "text": "Write another."}
    assert (await client.post(f"/runs/{run}/comment", json=about)).status_code == 200
    answer = {"question": question["id"], "choice": "continue"}
    assert (await client.post(f"/runs/{run}/answer", json=answer)).status_code == 200
    late = await client.post(f"/runs/{run}/answer", json=answer)
    events = (await client.get(f"/runs/{run}/events")).text
    await over(record)

    assert late.status_code == 409, late.text
    assert events.endswith("event: end\ndata: {}\n\n")
    assert "event: RunFinished" in events
    assert "About lines, line 1 (lap 1)" in (await client.get(f"/runs/{run}/laps/2")).json()["brief"]
    assert (await client.get(f"/runs/{run}")).json()["outcome"] == "converged"
    answers = [event for event in await audit(fleet, bench, record) if isinstance(event, Answered)]
    assert [event.by for event in answers] == ["ann"]


async def test_what_needs_the_files_of_a_fleet_s_run_says_how_to_get_them(
    fleet: Fleet, bench: FleetBench, client: httpx.AsyncClient
) -> None:
    await bench.ready("one")
    record = await asking(fleet, bench)

    for verb, body in (("apply", {}), ("restore", {"lap": 1}), ("fork", {"lap": 1})):
        refused = await client.post(f"/runs/{record.id}/{verb}", json=body)
        assert refused.status_code == 409, refused.text
        shown = "fork" if verb == "fork" else "apply"
        assert f"untilgreen {shown} {record.id} --fleet" in refused.json()["detail"]
    assert (await client.post(f"/runs/{record.id}/stop", json={})).status_code == 200
    await over(record)
    await audit(fleet, bench, record, Outcome.CANCELLED)


async def test_a_change_of_a_fleet_s_run_is_announced_to_viewers_of_the_list(
    fleet: Fleet, bench: FleetBench, tmp_path: Path
) -> None:
    await bench.ready("one")
    record = await asking(fleet, bench)
    async with opened(tmp_path / "state", fleet=bench.url) as service:
        told = []
        await record.send(Cancel(at=time.time(), by="me", reason="enough"))
        await record.wake()
        async for name in service.changes.follow():
            told.append(name)
            if (await service.runs.listed(record.id)).row.outcome is not None:
                break
    assert record.id in told


async def test_without_the_database_the_runs_of_this_machine_are_still_listed(
    postgres: Postgres, tmp_path: Path
) -> None:
    here = await keep(Store(tmp_path / "state"), tmp_path, "green")
    gone = postgres.url.replace(f":{postgres.port}/", f":{free_port()}/")

    async for client in served(tmp_path / "state", gone):
        listed = (await client.get("/runs")).json()
        one = await client.get(f"/runs/{here}")
        other = await client.get("/runs/2zzzzzzzz")

    assert [row["run"] for row in listed["runs"]] == [here]
    assert "database can't be reached" in listed["missing"]
    assert (one.status_code, other.status_code) == (200, 409)
