"""A fleet at one moment: Temporal knows which workers poll for runs, PostgreSQL which ones drive them."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Any

import msgspec
from temporalio.api.enums.v1 import TaskQueueType
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import DescribeTaskQueueRequest
from temporalio.client import Client
from temporalio.service import RPCError

from untilgreen.core.values.fleet_view import (
    DrivenView,
    FleetView,
    LimitView,
    QueueView,
    TakeoverView,
    WorkerView,
)
from untilgreen.core.values.run_row import RunRow
from untilgreen.errors import UserError
from untilgreen.fleet.runs.record import DRIVEN
from untilgreen.fleet.runs.records import COMMAND_SECONDS, PostgresRecords
from untilgreen.fleet.temporal.connection import connect
from untilgreen.fleet.temporal.orders import QUEUE, Identity, queue_of
from untilgreen.journal.postgres.database import Connection

ANSWER = timedelta(seconds=2)
"""How long Temporal may take for one answer."""
GONE_SECONDS = 75.0
"""A worker polls for runs at least once a minute; one silent for longer than this is gone."""
_DRIVEN = (
    "SELECT id, holder, extract(epoch FROM seen)::float8, token, row FROM $schema.run "
    f"WHERE holder <> '' AND {DRIVEN} AND row IS NOT NULL ORDER BY id DESC"
)
_OPEN = (
    f"SELECT row, NOT {DRIVEN} FROM $schema.run "
    "WHERE row IS NOT NULL AND convert_from(row, 'UTF8')::json ->> 1 IS NULL"
)
"""The second field of a row is the outcome, which an open run does not have."""
_LIMITS = "SELECT substr(name, 7), value FROM $schema.setting WHERE starts_with(name, 'limit:') ORDER BY name"
_TAKEOVERS = """
SELECT run, extract(epoch FROM at)::float8, before, line FROM (
  SELECT DISTINCT ON (e.run, e.token) e.run, e.at, e.line, e.token, (
    SELECT b.line FROM $schema.event b
    WHERE b.run = e.run AND b.token < e.token AND b.token[1:2] = e.token[1:2] AND cardinality(b.token) = 3
    ORDER BY b.token DESC, b.seq LIMIT 1) AS before
  FROM $schema.event e JOIN $schema.run r ON r.id = e.run
  WHERE r.updated > now() - interval '1 day' AND e.at > now() - interval '1 day' AND e.token[3] > 1
    AND cardinality(e.token) = 3
  ORDER BY e.run, e.token, e.seq) AS first
WHERE before IS NOT NULL ORDER BY at DESC LIMIT 50
"""
"""The first event of each later attempt at a drive, and of the attempt before; both are `attached`."""
_rows = msgspec.json.Decoder(RunRow)


class _Attached(msgspec.Struct):
    place: str = ""


class _Line(msgspec.Struct):
    event: _Attached


_lines = msgspec.json.Decoder(_Line)


async def overview(url: str) -> FleetView:
    """Describe the fleet of that database; if Temporal is down, only what the database knows."""
    records = PostgresRecords(url, patience=COMMAND_SECONDS)
    try:
        told = await records.database.call(_told)
    finally:
        records.database.close()
    try:
        client = await connect(url, 0.0)
        pollers, backlogs = await _queues(client, told.queues)
        limits = await asyncio.gather(*(_limit(client, name, most) for name, most in told.limits))
    except (UserError, RPCError) as error:
        silent = [_silent(name, most) for name, most in told.limits]
        return _view(told, {}, {}, silent, str(error))
    return _view(told, pollers, backlogs, limits, "")


class _Told(msgspec.Struct, frozen=True, kw_only=True):
    """What the database says."""

    driven: tuple[DrivenView, ...]
    resting: int
    queues: tuple[tuple[str, ...], ...]
    """The labels that open runs need, each set once."""
    limits: tuple[tuple[str, int], ...]
    takeovers: tuple[TakeoverView, ...]
    now: float


def _told(connection: Connection) -> _Told:
    def rows(statement: str) -> list[Any]:
        found: list[Any] = connection.execute(statement.encode()).fetchall()
        return found

    opened = [(_rows.decode(bytes(row)), resting) for row, resting in rows(_OPEN)]
    return _Told(
        driven=tuple(_driven(*row) for row in rows(_DRIVEN)),
        resting=sum(resting for _, resting in opened),
        queues=tuple(sorted({_needs(row) for row, _ in opened})),
        limits=tuple((name, int(most)) for name, most in rows(_LIMITS)),
        takeovers=tuple(_takeover(*row) for row in rows(_TAKEOVERS)),
        now=rows("SELECT extract(epoch FROM now())::float8")[0][0],
    )


def _driven(run: str, holder: str, seen: float, token: Sequence[int], row: bytes) -> DrivenView:
    shown = _rows.decode(bytes(row))
    _, drive, attempt = (*token, 0, 0, 0)[:3]
    return DrivenView(
        run=run,
        worker=holder,
        seen=seen,
        drive=drive,
        attempt=attempt,
        title=shown.title,
        agent=shown.agent,
        laps=shown.laps,
    )


def _needs(row: RunRow) -> tuple[str, ...]:
    return tuple(sorted(name for name, value in row.labels.items() if not value))


def _takeover(run: str, at: float, before: bytes, line: bytes) -> TakeoverView:
    places = [_lines.decode(bytes(each)).event.place for each in (before, line)]
    return TakeoverView(run=run, at=at, before=places[0], after=places[1])


async def _queues(
    client: Client, needed: Iterable[tuple[str, ...]]
) -> tuple[dict[Identity, float], dict[tuple[str, ...], int]]:
    """When each worker last polled for runs, and how many runs wait to be taken for each set of labels."""
    pollers, waiting = await _describe(client, QUEUE)
    labels = {*needed, *((label,) for each in pollers for label in each.labels)} - {()}
    wanted = sorted(labels)
    found = await asyncio.gather(*(_describe(client, queue_of(list(each))) for each in wanted))
    return pollers, {(): waiting, **{each: count for each, (_, count) in zip(wanted, found, strict=True)}}


async def _describe(client: Client, queue: str) -> tuple[dict[Identity, float], int]:
    asked = DescribeTaskQueueRequest(
        namespace=client.namespace,
        task_queue=TaskQueue(name=queue),
        task_queue_type=TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY,
        report_stats=True,
    )
    answer = await client.workflow_service.describe_task_queue(asked, timeout=ANSWER)
    pollers: defaultdict[Identity, float] = defaultdict(float)
    for each in answer.pollers:
        who = Identity.read(each.identity)
        pollers[who] = max(pollers[who], each.last_access_time.ToSeconds())
    return dict(pollers), answer.stats.approximate_backlog_count


async def _limit(client: Client, name: str, most: int) -> LimitView:
    handle = client.get_workflow_handle(f"limit:{name}")
    try:
        holders, waiting = await handle.query("held", rpc_timeout=ANSWER)
    except RPCError:
        return _silent(name, most)
    return LimitView(agent=name, most=most, holders=tuple(holders), waiting=tuple(waiting), known=True)


def _silent(name: str, most: int) -> LimitView:
    return LimitView(agent=name, most=most, holders=(), waiting=(), known=False)


def _view(
    told: _Told,
    pollers: dict[Identity, float],
    backlogs: dict[tuple[str, ...], int],
    limits: Sequence[LimitView],
    away: str,
) -> FleetView:
    drives: defaultdict[str, list[DrivenView]] = defaultdict(list)
    for each in told.driven:
        drives[each.worker].append(each)
    asking = {who.name: (who, at) for who, at in pollers.items() if told.now - at < GONE_SECONDS}
    names = sorted({*drives, *asking})
    nobody = {name: (Identity(name), None) for name in names}
    workers = [_worker(*{**nobody, **asking}[name], drives[name]) for name in names]
    return FleetView(
        workers=tuple(workers),
        queues=tuple(_queue(labels, count, workers) for labels, count in backlogs.items()),
        driven=told.driven,
        limits=tuple(limits),
        takeovers=told.takeovers,
        resting=told.resting,
        temporal=away,
    )


def _worker(who: Identity, asked: float | None, drives: Sequence[DrivenView]) -> WorkerView:
    moments = [each.seen for each in drives] + ([] if asked is None else [asked])
    return WorkerView(
        name=who.name,
        slots=who.slots,
        labels=who.labels,
        seen=max(moments, default=None),
        drives=tuple(each.run for each in drives),
    )


def _queue(labels: tuple[str, ...], waiting: int, workers: Sequence[WorkerView]) -> QueueView:
    fit = tuple(each.name for each in workers if each.slots and set(labels) <= set(each.labels))
    return QueueView(name=queue_of(list(labels)), labels=labels, waiting=waiting, workers=fit)
