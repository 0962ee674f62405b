"""A worker: polls Temporal for runs it may drive, starts a process for each, and sends its heartbeats."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import time
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

from temporalio import activity
from temporalio.exceptions import ApplicationError
from temporalio.worker import PollerBehaviorSimpleMaximum, Worker
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner, SandboxRestrictions

from untilgreen.errors import RunGone, UntilgreenError, UserError
from untilgreen.fleet.driver import ELSEWHERE, UNFIT
from untilgreen.fleet.fork_server import ForkServer
from untilgreen.fleet.runs.premises import Machine
from untilgreen.fleet.runs.records import PostgresRecords
from untilgreen.fleet.temporal.connection import connect
from untilgreen.fleet.temporal.orders import QUEUE, Identity, Order, Repeat, Rest, queue_of
from untilgreen.fleet.temporal.schedules import begin_again
from untilgreen.fleet.temporal.workflow import BeginWorkflow, LimitWorkflow, RunWorkflow
from untilgreen.journal.postgres.schema import check_version

SILENCE_SECONDS = 10.0
"""How long a driver may be silent before it counts as hung and its heartbeats stop."""
ANOTHER_SOON = timedelta(seconds=2)
"""How long until a run that this machine can't drive is offered again, to any worker."""
HAND_OVER_SECONDS = 8.0
"""How long a driver may take to hand over before the worker exits."""

_AS_LOADED = SandboxedWorkflowRunner(
    restrictions=SandboxRestrictions.default.with_passthrough_modules("untilgreen")
)
"""Without this, each workflow imports our modules again, and an upgrade may have replaced their files."""


@dataclass(frozen=True, kw_only=True)
class WorkerOptions:
    """What one worker offers."""

    url: str
    cache: Path
    slots: int = 4
    labels: tuple[str, ...] = ()
    grace: float = 600.0
    """Seconds that turns may continue after SIGTERM."""
    log: Any = None
    """A function that gets news as keyword arguments."""


@dataclass
class _Drive:
    """One driver, seen from its worker."""

    write: int
    heard: float = field(default_factory=time.monotonic)
    news: dict[str, Any] = field(default_factory=dict)

    def tell(self, word: str) -> None:
        """Send one line to the driver."""
        with suppress(OSError):
            os.write(self.write, f"{word}\n".encode())


class Supervisor:
    """The Temporal activities of one machine."""

    def __init__(self, options: WorkerOptions) -> None:
        self._options = options
        self._fork_server = ForkServer()

    def close(self) -> None:
        """Start no more drivers."""
        self._fork_server.close()

    @activity.defn(name="drive")
    async def drive(self, order: Order) -> Rest:
        """Drive a run until it rests."""
        token = (order.generation, order.drive, activity.info().attempt)
        write, read = self._fork_server.start(
            {
                "order": asdict(order),
                "token": token,
                "cache": str(self._options.cache),
                "url": self._options.url,
            }
        )
        drive = _Drive(write)
        loop, reader = asyncio.get_running_loop(), asyncio.StreamReader()
        transport, _ = await loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(read, "rb", 0)
        )
        self._log(run=order.run, started=token)
        beside = [
            asyncio.ensure_future(each) for each in (self._beat(drive, order.heartbeat), self._drain(drive))
        ]
        try:
            await self._listened(asyncio.ensure_future(self._listen(reader, drive)), drive)
        finally:
            for each in beside:
                each.cancel()
            os.close(write)
            transport.close()
        return self._ended(order, drive)

    async def _listen(self, reader: asyncio.StreamReader, drive: _Drive) -> None:
        async for line in reader:
            drive.heard = time.monotonic()
            with suppress(ValueError):
                drive.news.update(json.loads(line))

    async def _listened(self, reading: asyncio.Future[None], drive: _Drive) -> None:
        """Listen until the driver ends; a cancel from Temporal is passed to the driver."""
        while True:
            try:
                await asyncio.shield(reading)
            except asyncio.CancelledError:
                details = activity.cancellation_details()
                drive.tell("cancel" if details is not None and details.cancel_requested else "leave")
            else:
                return

    async def _beat(self, drive: _Drive, heartbeat: float) -> None:
        while True:
            if time.monotonic() - drive.heard < SILENCE_SECONDS:
                activity.heartbeat()
            await asyncio.sleep(min(1.0, heartbeat / 4))

    async def _drain(self, drive: _Drive) -> None:
        await activity.wait_for_worker_shutdown()
        drive.tell("drain")
        await asyncio.sleep(max(0.0, self._options.grace - HAND_OVER_SECONDS))
        drive.tell("leave")

    def _ended(self, order: Order, drive: _Drive) -> Rest:
        self._log(run=order.run, ended=drive.news.get("code"), **_said(drive.news))
        if "rest" in drive.news:
            return Rest(**drive.news["rest"])
        words = str(drive.news.get("failed", "the driver was killed"))
        kind, _, _ = words.partition(":")  # the rest may quote the run
        if drive.news.get("code") == UNFIT:
            raise ApplicationError(kind, type="Unfit", non_retryable=True)
        if drive.news.get("code") == ELSEWHERE:
            raise ApplicationError(kind, type="Elsewhere", next_retry_delay=ANOTHER_SOON)
        # Temporal ignores an attempt that it has given up on, so this can't disturb a newer one.
        raise ApplicationError(kind, type="Again")

    @activity.defn(name="begin")
    async def begin(self, repeat: Repeat) -> Order:
        """Begin another run of a plan, for a schedule."""
        records = PostgresRecords(self._options.url)
        try:
            return await begin_again(
                records, self._options.cache, repeat, f"begin:{activity.info().workflow_run_id}"
            )
        except UntilgreenError as error:  # its words may quote the plan
            final = isinstance(error, RunGone)
            raise ApplicationError(type(error).__name__, type="Again", non_retryable=final) from None
        finally:
            records.database.close()

    def _log(self, **facts: object) -> None:
        if self._options.log is not None:
            self._options.log(**facts)


def _said(news: dict[str, Any]) -> dict[str, Any]:
    """Why a drive failed, for this machine's own log."""
    return {"failed": news["failed"]} if "failed" in news else {}


async def work(options: WorkerOptions, stop: asyncio.Event | None = None) -> None:
    """Drive the runs that this machine may take, until SIGTERM or Ctrl-C."""
    records = PostgresRecords(options.url)
    check_version(records.database)
    records.database.close()
    client, machine = await connect(options.url), Machine(options.cache)
    supervisor, stop = Supervisor(options), stop or asyncio.Event()
    activity.logger.setLevel(logging.ERROR)  # our own log says in a sentence why a drive failed
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    queues = [QUEUE, *sorted({queue_of(list(each)) for each in _subsets(options.labels)} - {QUEUE})]
    second = timedelta(seconds=1)
    workers = [
        Worker(
            client,
            task_queue=queue,
            activities=[supervisor.drive, supervisor.begin] if queue == QUEUE else [supervisor.drive],
            workflows=[RunWorkflow, LimitWorkflow, BeginWorkflow] if queue == QUEUE else [],
            workflow_runner=_AS_LOADED,
            max_concurrent_activities=options.slots,
            graceful_shutdown_timeout=timedelta(seconds=options.grace),
            max_heartbeat_throttle_interval=second,
            default_heartbeat_throttle_interval=second,
            # A frozen machine's open polls are handed tasks that nobody does; each costs a heartbeat timeout.
            activity_task_poller_behavior=PollerBehaviorSimpleMaximum(maximum=1),
            sticky_queue_schedule_to_start_timeout=timedelta(seconds=2),
            identity=str(Identity(machine.name, options.slots, tuple(sorted(set(options.labels))))),
        )
        for queue in queues
    ]
    running = [asyncio.ensure_future(each.run()) for each in workers]
    if options.log is not None:
        options.log(ready=machine.name, slots=options.slots, queues=queues)
    await asyncio.wait([asyncio.ensure_future(stop.wait()), *running], return_when=asyncio.FIRST_COMPLETED)
    await asyncio.gather(*(each.shutdown() for each in workers))
    try:
        await asyncio.gather(*running)
    except Exception as error:  # Temporal refused this worker for good; whatever started it restarts it
        raise UserError(f"The worker can't poll Temporal any more: {error}") from error
    finally:
        supervisor.close()


def _subsets(labels: tuple[str, ...]) -> list[tuple[str, ...]]:
    """A worker with two labels also takes runs that need only one of them."""
    found: list[tuple[str, ...]] = [()]
    for label in labels:
        found += [(*each, label) for each in found]
    return found
