"""Scheduled runs: a Temporal schedule names a run, and each time starts another run of its plan."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anyio
from msgspec.structs import replace
from temporalio.client import (
    Client,
    Schedule,
    ScheduleActionStartWorkflow,
    ScheduleIntervalSpec,
    ScheduleOverlapPolicy,
    SchedulePolicy,
    ScheduleSpec,
)
from temporalio.service import RPCError, RPCStatusCode

from untilgreen.core.values.model import Plan
from untilgreen.engine.wiring.workplace import workplace
from untilgreen.errors import UserError, WorkspaceNotReady
from untilgreen.fleet.runs.records import PostgresRecords
from untilgreen.fleet.temporal.orders import QUEUE, Order, Repeat, queue_of
from untilgreen.ports import Record
from untilgreen.workspace.remote import Remote

_START = "schedule:"
_OF_A_RUN = ("tree", "forked", "dirty", "dirty_more")
"""Keys of a plan's workspace that are about the files of one run only."""


@dataclass(frozen=True)
class Scheduled:
    """One schedule, as people see it."""

    name: str
    repeat: Repeat
    when: str
    next: float | None


async def add(client: Client, name: str, repeat: Repeat, *, cron: str, every: float) -> None:
    """Start runs of that plan on a schedule; none starts while the last one is open."""
    spec = ScheduleSpec(
        cron_expressions=[cron] if cron else [],
        intervals=[ScheduleIntervalSpec(every=timedelta(seconds=every))] if every else [],
    )
    action = ScheduleActionStartWorkflow(
        "untilgreen.begin", repeat, id=f"begin:{name}", task_queue=QUEUE, static_summary=cron or f"{every:g}s"
    )
    made = Schedule(action=action, spec=spec, policy=SchedulePolicy(overlap=ScheduleOverlapPolicy.SKIP))
    try:
        await client.create_schedule(
            f"{_START}{name}",
            made,
            memo={"run": repeat.run, "branch": repeat.branch, "when": cron or f"{every:g}s"},
        )
    except RPCError as error:
        if error.status == RPCStatusCode.INVALID_ARGUMENT:
            raise UserError(f"Temporal rejected that schedule: {error.message}.") from error
        raise


async def remove(client: Client, name: str) -> None:
    """Remove a schedule; runs that began continue."""
    try:
        await client.get_schedule_handle(f"{_START}{name}").delete()
    except RPCError as error:
        if error.status != RPCStatusCode.NOT_FOUND:
            raise
        raise UserError(
            f"There is no schedule {name!r}. `untilgreen fleet schedule` shows all of them."
        ) from error


async def all_of(client: Client) -> list[Scheduled]:
    """Every schedule of the fleet."""
    found = []
    async for each in await client.list_schedules():
        if not each.id.startswith(_START):
            continue
        memo: Mapping[str, Any] = await each.memo()
        times = each.info.next_action_times if each.info is not None else ()
        repeat = Repeat(run=memo.get("run", ""), branch=memo.get("branch", ""))
        when = times[0].timestamp() if times else None
        found.append(Scheduled(each.id.removeprefix(_START), repeat, memo.get("when", ""), when))
    return sorted(found, key=lambda each: each.name)


async def begin_again(records: PostgresRecords, cache: Path, repeat: Repeat, key: str) -> Order:
    """Start another run of a plan. `key` is the same in a retry, and finds a run that was already begun."""
    template = records.record(repeat.run)
    plan = (await template.load()).state.plan
    run = await records.begun_by(key)
    if run is None:
        remote = Remote(workplace(plan).remote, cache)
        commit = await remote.fetch_branch(repeat.branch)
        if commit is None:
            raise WorkspaceNotReady(f"The remote has no branch {repeat.branch!r}.")
        facts = {name: value for name, value in plan.workspace.items() if name not in _OF_A_RUN}
        again = replace(plan, workspace={**facts, "commit": commit})

        async def prepare(record: Record) -> None:
            await remote.push(f"{commit}:refs/untilgreen/{record.id}")

        with TemporaryDirectory(prefix="untilgreen-code-") as folder:
            code = {}
            for number, name in enumerate(await template.names("code/")):
                code[name.removeprefix("code/")] = path = Path(folder, str(number))
                await anyio.Path(path).write_bytes(await template.kept(name) or b"")
            run = (await records.begin(again, time.time(), code=code, prepare=prepare, key=key)).id
    return await order_for(records, plan, Order(run=run))


async def order_for(records: PostgresRecords, plan: Plan, order: Order) -> Order:
    """What Temporal needs to know about a run: its queue, its limit, its heartbeat."""
    order.labels = sorted(plan.labels)
    order.queue = queue_of(sorted(name for name, value in plan.labels.items() if not value))
    order.agent = plan.agents[0].use or plan.agents[0].name
    if not order.limit and await records.setting(f"limit:{order.agent}") is not None:
        order.limit = order.agent
    heartbeat = await records.setting("heartbeat")
    if heartbeat is not None and order.heartbeat == Order.heartbeat:
        order.heartbeat = float(heartbeat)
    return order
