"""Workflows that began with older code continue, as their histories replay; also schedules and limits."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from datetime import timedelta
from pathlib import Path

import pytest
from temporalio import workflow
from temporalio.client import WorkflowHistory
from temporalio.worker import Replayer

from tests.fleet.audit import audit
from tests.fleet.fleet_bench import FleetBench, over, until
from untilgreen.fleet.client import Fleet
from untilgreen.fleet.temporal import schedules
from untilgreen.fleet.temporal.orders import Order, Repeat, Rest
from untilgreen.fleet.temporal.workflow import BeginWorkflow, LimitWorkflow, RunWorkflow

pytestmark = pytest.mark.anyio
HISTORIES = Path(__file__).with_name("histories")
"""Before a release, `STORE_HISTORIES=1 make test-fleet` adds the histories of the current code."""
ALL = [RunWorkflow, LimitWorkflow, BeginWorkflow]
ONE = "test -s lines"


async def replayed(kinds: list[type], histories: list[WorkflowHistory]) -> Mapping[str, BaseException]:
    """The histories that fail to replay, by their run's id in Temporal."""

    async def each() -> AsyncIterator[WorkflowHistory]:
        for history in histories:
            yield history

    results = await Replayer(workflows=kinds).replay_workflows(each(), raise_on_replay_failure=False)
    return results.replay_failures


def stored() -> list[WorkflowHistory]:
    return [
        WorkflowHistory.from_json(path.stem, json.loads(path.read_text()))
        for path in sorted(HISTORIES.glob("*.json"))
    ]


async def test_every_stored_history_replays() -> None:
    assert dict(await replayed(ALL, stored())) == {}
    assert {history.workflow_id.split("-")[0] for history in stored()} == {"run", "limit", "begin"}


@workflow.defn(name="untilgreen.run", sandboxed=False)
class Careless:
    """A forbidden change: a new timer before the first drive, without `workflow.patched`."""

    @workflow.signal
    def knock(self) -> None: ...

    @workflow.run
    async def run(self, order: Order) -> Rest:
        await asyncio.sleep(timedelta(seconds=1).total_seconds())
        return Rest(kind="over")


async def test_a_careless_change_would_be_noticed() -> None:
    runs = [each for each in stored() if each.workflow_id.startswith("run-")]

    failures = await replayed([Careless], runs)

    assert len(failures) == len(runs) > 0


async def test_a_schedule_begins_runs_of_a_plan_on_the_branch_as_it_is_then(
    fleet: Fleet, bench: FleetBench
) -> None:
    await bench.ready("one")
    bench.git("push", "-q", "origin", "HEAD:main")
    bench.git("symbolic-ref", "HEAD", "refs/heads/main", there=True)
    first = await bench.begin(fleet, bench.agent(0.1), ONE)
    await over(first)
    (bench.project / "later").write_text("later\n")
    bench.git("add", "later")
    bench.git("-c", "user.name=n", "-c", "user.email=n@example.invalid", "commit", "-qm", "later")
    bench.git("push", "-q", "origin", "HEAD:main")

    await schedules.add(fleet.client, "often", Repeat(run=first.id), cron="", every=2.0)
    shown = await until(lambda: schedules.all_of(fleet.client))  # Temporal lists it a moment later

    async def others() -> list[str]:
        return [run async for run, _ in fleet.records.rows() if run > first.id]

    try:
        (run, *_) = await until(others)
        record = fleet.records.record(run)
        await over(record)
    finally:
        await schedules.remove(fleet.client, "often")
    await audit(fleet, bench, record)
    assert bench.git("show", f"untilgreen/{run}:later", there=True) == "later\n"
    assert [(each.name, each.repeat, each.when) for each in shown] == [
        ("often", Repeat(run=first.id, branch="HEAD"), "2s")
    ]
    for each in await others():
        await over(fleet.records.record(each))


async def test_what_was_begun_is_found_again_where_the_answer_was_lost(
    fleet: Fleet, bench: FleetBench
) -> None:
    await bench.ready("one")
    bench.git("push", "-q", "origin", "HEAD:other")
    first = await bench.begin(fleet, bench.agent(0.1), ONE)
    await over(first)
    repeat, cache = Repeat(run=first.id, branch="other"), bench.folder / "cache"

    orders = [await schedules.begin_again(fleet.records, cache, repeat, "begin:key") for _ in range(2)]

    assert orders[0] == orders[1]
    assert (await fleet.records.record(orders[0].run).load()).seq == 1


async def test_a_pool_frees_the_permit_of_a_run_that_was_terminated(fleet: Fleet, bench: FleetBench) -> None:
    await bench.ready("one")
    await fleet.limit("single", 1)
    first = await bench.begin(fleet, bench.agent(60), ONE, limit="single")
    await bench.driving(first)
    second = await bench.begin(fleet, bench.agent(0.1), ONE, limit="single")

    await fleet.client.get_workflow_handle(first.id).terminate()
    await over(second)

    await audit(fleet, bench, second)
    await until(lambda: not bench.machines["one"].drivers())


async def test_a_run_whose_pool_was_ended_has_no_limit(fleet: Fleet, bench: FleetBench) -> None:
    await bench.ready("one")
    record = await bench.begin(fleet, bench.agent(0.1), ONE, limit="never-made")

    await over(record)

    await audit(fleet, bench, record)
