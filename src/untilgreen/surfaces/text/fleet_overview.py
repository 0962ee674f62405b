"""Workers, queues, limits and takeovers of a fleet, a line for each."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from untilgreen.core.values.fleet_view import FleetView, LimitView, QueueView, WorkerView
from untilgreen.core.values.units import several


def fleet_lines(fleet: FleetView) -> Iterator[str]:
    """A fleet at one moment, for people."""
    if fleet.temporal:
        yield f"Temporal can't be reached, so this is what the database knows. {fleet.temporal}"
    yield from (f"worker    {_worker(each)}" for each in fleet.workers)
    if not fleet.workers:
        yield "No worker is running. Start one: untilgreen worker"
    yield from (f"queue     {_queue(each)}" for each in fleet.queues)
    yield from (f"limit     {_limit(each)}" for each in fleet.limits)
    for each in fleet.takeovers:
        at = datetime.fromtimestamp(each.at, UTC)
        yield f"takeover  {at:%Y-%m-%d %H:%M:%S} UTC  {each.run} from {each.before} to {each.after}"
    yield f"{several(fleet.resting, 'open run')} without a process"


def _worker(each: WorkerView) -> str:
    offers = several(each.slots, "slot") if each.slots else "takes no more runs"
    labels = f" with {', '.join(each.labels)}" if each.labels else ""
    drives = f", {len(each.drives)} driven: {', '.join(each.drives)}" if each.drives else ""
    return f"{each.name}  {offers}{labels}{drives}"


def _queue(each: QueueView) -> str:
    return f"{each.name}  {several(each.waiting, 'run')} waiting, {several(len(each.workers), 'worker')}"


def _limit(each: LimitView) -> str:
    if not each.known:
        return f"{each.agent}  at most {each.most}"
    return f"{each.agent}  at most {each.most}, {len(each.holders)} driven, {len(each.waiting)} waiting"
