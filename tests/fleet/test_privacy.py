"""Temporal gets only run ids and numbers: no secret and no text of a run, whatever happens to it."""

from __future__ import annotations

import time

import pytest

from tests.fleet.audit import audit
from tests.fleet.fleet_bench import FleetBench, over, until
from untilgreen.core.loop.receive import Steer
from untilgreen.core.values.model import Outcome
from untilgreen.engine.driving.sending import deliver
from untilgreen.fleet.client import Fleet
from untilgreen.fleet.servers import Temporal

pytestmark = pytest.mark.anyio


async def everything_in(temporal: Temporal, fleet: Fleet) -> bytes:
    """The whole database of Temporal, and each history as its API returns it."""
    files = [path.read_bytes() for path in sorted(temporal.home.iterdir()) if path.is_file()]
    histories = []
    async for each in fleet.client.list_workflows():
        history = await fleet.client.get_workflow_handle(each.id, run_id=each.run_id).fetch_history()
        histories += [event.SerializeToString() for event in history.events]
    return b"\n".join([*files, *histories])


async def test_neither_a_secret_nor_any_text_of_a_run_reaches_temporal(
    fleet: Fleet, bench: FleetBench, temporal: Temporal
) -> None:
    machine = bench.switched_off("one")
    machine.variables["PRIVATE_TOKEN"] = "open-sesame-4711"
    await bench.ready("one")
    gate = 'echo words-of-a-gate; test -s lines -a "${PRIVATE_TOKEN}" = open-sesame-4711'
    asks = await bench.begin(fleet, bench.agent(0.1), f"{gate}; false", strategy={"use": "manual"})
    spec = {"workspace": {"mode": "worktree", "setup": ["echo words-of-a-setup $PRIVATE_TOKEN; exit 3"]}}
    fails = await bench.begin(fleet, bench.agent(0.1), gate, **spec)
    lacks = await bench.begin(fleet, "an-agent-with-a-telling-name", gate)

    async def asked() -> bool:
        return (await asks.load()).state.asked is not None

    await until(asked)
    await until(lambda: "words-of-a-setup" in machine.log())
    await until(lambda: "an-agent-with-a-telling-name" in machine.log())
    note = Steer(at=time.time(), by="somebody-telling", id="n1", note="words-of-a-note")
    assert await deliver(fleet.records.record(asks.id), note) == ""
    for record in (asks, fails, lacks):
        await fleet.client.get_workflow_handle(record.id).cancel()
        await over(record)
    await audit(fleet, bench, asks, Outcome.CANCELLED)

    kept = await everything_in(temporal, fleet)

    assert all(record.id.encode() in kept for record in (asks, fails, lacks))
    told = (b"open-sesame", b"PRIVATE_TOKEN", b"Do it.", b"words-of-a", b"an-agent-with", b"somebody-telling")
    assert [word for word in told if word in kept] == []
