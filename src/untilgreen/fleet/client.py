"""A fleet as a command sees it: start a run, wake it, set limits."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from temporalio.client import Client
from temporalio.common import (
    SearchAttributeKey,
    SearchAttributePair,
    TypedSearchAttributes,
    WorkflowIDConflictPolicy,
)
from temporalio.service import RPCError, RPCStatusCode

from untilgreen.core.loop.receive import Steer
from untilgreen.core.values.model import Plan
from untilgreen.engine.wiring.plugin_copies import files_to_copy
from untilgreen.engine.wiring.redaction import redacted
from untilgreen.errors import UserError
from untilgreen.fleet.runs.beginning import beginning
from untilgreen.fleet.runs.record import PostgresRecord
from untilgreen.fleet.runs.records import COMMAND_SECONDS, PostgresRecords
from untilgreen.fleet.runs.undriven import settle
from untilgreen.fleet.temporal.connection import connect
from untilgreen.fleet.temporal.orders import QUEUE, Order
from untilgreen.fleet.temporal.schedules import order_for
from untilgreen.ports import Record

STATUS = SearchAttributeKey.for_keyword("UntilgreenStatus")
AGENT = SearchAttributeKey.for_keyword("UntilgreenAgent")
LABELS = SearchAttributeKey.for_keyword_list("UntilgreenLabels")


class Fleet:
    """One database and one Temporal."""

    def __init__(self, client: Client, url: str) -> None:
        self.client = client
        self.records = PostgresRecords(url, self.knock)

    @classmethod
    async def connect(cls, url: str, patience: float = COMMAND_SECONDS) -> Fleet:
        """Ask the database where Temporal is, and wait up to this many seconds for it."""
        return cls(await connect(url, patience), url)

    async def begin(
        self,
        plan: Plan,
        order: Order,
        warn: Callable[[str], None],
        *,
        note: Steer | None = None,
        copies: Mapping[str, Path] | None = None,
    ) -> PostgresRecord:
        """Create a run and have it driven; its commit goes to the remote, its code to the database.

        `note` is for its agent; `copies` replace plugin files with those of another run.
        """
        async with beginning(plan, warn) as begins:
            kept, warning = redacted(begins.plan)
            if warning:
                warn(warning)

            async def prepare(record: Record) -> None:
                await begins.push(record.id)

            record = await self.records.begin(
                kept, time.time(), code=files_to_copy(plan, copies), prepare=prepare
            )
        if note is not None:
            await record.send(note)
        order.run = record.id
        try:
            await self.drive(await order_for(self.records, plan, order))
        except RPCError as error:
            raise UserError(
                f"Run {record.id} was saved, but Temporal did not accept it: {error.message}. "
                f"When Temporal is back, hand it over: untilgreen resume {record.id} --fleet"
            ) from error
        return record

    async def drive(self, order: Order) -> None:
        """Have a run driven; asking again changes nothing."""
        attributes = TypedSearchAttributes(
            [
                SearchAttributePair(STATUS, "new"),
                SearchAttributePair(AGENT, order.agent or "none"),
                SearchAttributePair(LABELS, order.labels),
            ]
        )
        await self.client.start_workflow(
            "untilgreen.run",
            order,
            id=order.run,
            task_queue=QUEUE,
            search_attributes=attributes,
            id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
        )

    async def knock(self, run: str) -> None:
        """Wake the run's workflow; if Temporal is down, its driver still finds commands by itself.

        Commands to a run that no worker has taken yet are recorded here, since none may ever take it.
        An open run that Temporal does not know is handed over: Temporal was down when it began, or lost it.
        """
        handle, record = self.client.get_workflow_handle(run), self.records.record(run)
        if await record.arrived():
            state = await settle(record, never_driven=True)
            if state is not None and state.outcome is not None:
                with suppress(RPCError):  # a worker that drives it later finds that it is over
                    await handle.terminate("the run is over")
                return
        try:
            await handle.signal("knock")
        except RPCError as error:
            if error.status != RPCStatusCode.NOT_FOUND:
                return
            state = (await record.load()).state
            if state.outcome is None:
                with suppress(RPCError):
                    await self.drive(await order_for(self.records, state.plan, Order(run=run)))

    async def limit(self, name: str, most: int) -> None:
        """Allow at most this many drives under that limit at a time, across all workers."""
        handle = self.client.get_workflow_handle(f"limit:{name}")
        try:
            await handle.signal("resize", most)
        except RPCError as error:
            if error.status != RPCStatusCode.NOT_FOUND:
                raise
            await self.client.start_workflow(
                "untilgreen.limit", args=[most, [], []], id=f"limit:{name}", task_queue=QUEUE
            )
