"""Temporal's part: one workflow per run keeps one drive alive somewhere, and waits in between.

Changes here must replay old histories: guard them with `workflow.patched`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta

from temporalio import workflow
from temporalio.common import RetryPolicy, SearchAttributeKey
from temporalio.exceptions import ActivityError, ApplicationError, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from untilgreen.fleet.temporal.orders import Order, Repeat, Rest

STATUS = SearchAttributeKey.for_keyword("UntilgreenStatus")
RETRY = RetryPolicy(
    initial_interval=timedelta(seconds=1), backoff_coefficient=2.0, maximum_interval=timedelta(seconds=10)
)
LONGEST_DRIVE = timedelta(days=30)
LONGEST_QUEUE = timedelta(hours=1)
"""How long until an unclaimed task is offered again."""
LOOK_AGAIN = timedelta(minutes=15)
"""The pause after a failure that no worker could handle; somebody may have fixed it by then."""
LOOK_FOR_HOLDERS = timedelta(seconds=20)
"""How often a pool with waiting runs checks that permit holders still exist."""


@workflow.defn(name="untilgreen.run")
class RunWorkflow:
    """Drive, rest, drive, until the run is over."""

    @workflow.init
    def __init__(self, order: Order) -> None:
        self._order = order
        self._knocks = 0
        self._granted = 0
        self._rest = Rest(kind="new")

    @workflow.signal
    def knock(self) -> None:
        """Something arrived in the run's inbox."""
        self._knocks += 1

    @workflow.signal
    def grant(self) -> None:
        """The run gets a permit from its pool."""
        self._granted += 1

    @workflow.signal
    def asked_for(self) -> None:
        """The pool checks whether a run with a permit still exists."""

    @workflow.query
    def standing(self) -> Rest:
        """Where the last drive left the run."""
        return self._rest

    @workflow.run
    async def run(self, order: Order) -> Rest:
        if not order.generation:
            self._order = replace(order, generation=int(workflow.info().start_time.timestamp() * 1000))
        while True:
            seen = self._knocks
            try:
                self._rest = await self._drive()
            except asyncio.CancelledError:  # just as the drive ended
                if not self._cancelled_meanwhile():
                    raise
                self._rest = Rest(kind="left")
            self._order = replace(self._order, failures=self._rest.failures)
            self._show()
            if self._rest.kind == "over":
                return self._rest
            if self._rest.kind != "left" and not self._cancelled_meanwhile():
                await self._sleep(seen)
            if workflow.info().is_continue_as_new_suggested():
                await workflow.wait_condition(workflow.all_handlers_finished)
                workflow.continue_as_new(self._order)

    async def _drive(self) -> Rest:
        """A cancel from Temporal's own surfaces is handed to the driver, which ends the run."""
        self._order = replace(self._order, drive=self._order.drive + 1)
        await self._permit()
        self._rest = Rest(kind="driven")
        self._show()
        try:
            result: Rest = await workflow.execute_activity(
                "drive",
                self._order,
                task_queue=self._order.queue,
                result_type=Rest,
                start_to_close_timeout=LONGEST_DRIVE,
                schedule_to_start_timeout=LONGEST_QUEUE,
                heartbeat_timeout=timedelta(seconds=self._order.heartbeat),
                retry_policy=RETRY,
                cancellation_type=workflow.ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
            )
        except ActivityError as error:
            if is_cancelled_exception(error):  # before a worker took it, or after its worker was lost
                self._order = replace(self._order, cancel=True)
                return Rest(kind="left")
            retry = getattr(error.retry_state, "name", "") == "TIMEOUT"
            return Rest(kind="left" if retry else "stranded")
        else:
            return result
        finally:
            await self._give_back()

    async def _sleep(self, seen: int) -> None:
        timeout: float | None = None
        if self._rest.until is not None:
            timeout = max(0.0, self._rest.until - workflow.now().timestamp())
        elif self._rest.kind == "stranded":
            timeout = LOOK_AGAIN.total_seconds()
        with suppress(asyncio.TimeoutError):
            await self._unless_cancelled(lambda: self._knocks > seen, timeout)

    async def _unless_cancelled(self, happened: Callable[[], bool], seconds: float | None = None) -> None:
        """Wait; a cancel from Temporal's own surfaces ends the wait, and the next drive ends the run."""
        try:
            await workflow.wait_condition(happened, timeout=seconds)
        except asyncio.CancelledError:
            if not workflow.patched("cancel-at-rest"):
                raise
            self._order = replace(self._order, cancel=True)

    def _cancelled_meanwhile(self) -> bool:
        """Whether a cancel came while a drive was about to rest, so that no driver heard of it."""
        if self._order.cancel or workflow.cancellation_reason() is None:
            return False
        if not workflow.patched("cancel-before-rest"):
            return False
        self._order = replace(self._order, cancel=True)
        return True

    async def _permit(self) -> None:
        if not self._order.limit:
            return
        seen = self._granted
        pool = workflow.get_external_workflow_handle(f"limit:{self._order.limit}")
        try:
            await pool.signal("ask", workflow.info().workflow_id)
        except ApplicationError:  # somebody ended the pool, so there is no limit
            self._order = replace(self._order, limit="")
            return
        self._rest = Rest(kind="queued")
        self._show()
        await self._unless_cancelled(lambda: self._granted > seen)

    async def _give_back(self) -> None:
        if self._order.limit:
            pool = workflow.get_external_workflow_handle(f"limit:{self._order.limit}")
            with suppress(ApplicationError):
                await asyncio.shield(asyncio.ensure_future(pool.signal("free", workflow.info().workflow_id)))

    def _show(self) -> None:
        workflow.upsert_search_attributes([STATUS.value_set(self._rest.outcome or self._rest.kind)])


@workflow.defn(name="untilgreen.limit")
class LimitWorkflow:
    """A number of permits shared by all workers, granted in the order of asking."""

    @workflow.init
    def __init__(self, most: int, holders: list[str], waiting: list[str]) -> None:
        self._most, self._holders, self._waiting = most, holders, waiting

    @workflow.signal
    def ask(self, run: str) -> None:
        """Wait for a permit."""
        self._waiting.append(run)

    @workflow.signal
    def free(self, run: str) -> None:
        """Give one back, or stop waiting."""
        if run in self._holders:
            self._holders.remove(run)
        elif run in self._waiting:
            self._waiting.remove(run)

    @workflow.signal
    def resize(self, most: int) -> None:
        """Change how many there are."""
        self._most = most

    @workflow.query
    def held(self) -> list[list[str]]:
        """Who has a permit, and who waits."""
        return [self._holders, self._waiting]

    @workflow.run
    async def run(self, most: int, holders: list[str], waiting: list[str]) -> None:
        info = workflow.info()
        while True:
            await workflow.wait_condition(lambda: self._waiting or info.is_continue_as_new_suggested())
            if info.is_continue_as_new_suggested():
                workflow.continue_as_new(args=[self._most, self._holders, self._waiting])
            if self._due():
                await self._grant(self._waiting.pop(0))
                continue
            try:
                await workflow.wait_condition(self._due, timeout=LOOK_FOR_HOLDERS)
            except TimeoutError:
                await self._free_who_is_gone()

    async def _free_who_is_gone(self) -> None:
        """Take back the permits of runs that were terminated in Temporal."""
        for run in list(self._holders):
            try:
                await workflow.get_external_workflow_handle(run).signal("asked_for")
            except ApplicationError:
                self.free(run)

    def _due(self) -> bool:
        return bool(self._waiting) and len(self._holders) < self._most

    async def _grant(self, run: str) -> None:
        self._holders.append(run)
        try:
            await workflow.get_external_workflow_handle(run).signal("grant")
        except ApplicationError:  # the run is gone
            self.free(run)


@workflow.defn(name="untilgreen.begin")
class BeginWorkflow:
    """What a schedule starts: another run of a plan. It lasts as long as that run, so runs don't overlap."""

    @workflow.run
    async def run(self, repeat: Repeat) -> str:
        order = await workflow.execute_activity(
            "begin",
            repeat,
            result_type=Order,
            start_to_close_timeout=timedelta(minutes=10),
            retry_policy=RETRY,
        )
        await workflow.execute_child_workflow(
            RunWorkflow.run, order, id=order.run, parent_close_policy=workflow.ParentClosePolicy.ABANDON
        )
        return order.run
