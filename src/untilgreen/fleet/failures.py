"""What happens when a drive fails for a reason outside the run: retries, ever later, then a pause."""

from __future__ import annotations

import time

from untilgreen.core.values.state import RunState
from untilgreen.engine.wiring.redaction import secrets_of
from untilgreen.errors import JournalTaken, UntilgreenError
from untilgreen.fleet.runs.record import PostgresRecord
from untilgreen.fleet.runs.undriven import settle
from untilgreen.fleet.temporal.orders import Order, Rest
from untilgreen.ports import Activity, ShownActivity

MOST_FAILURES = 10
"""How many drives in a row may fail before the run waits for a person; with the pauses, some 20 minutes."""
FIRST_PAUSE, LONGEST_PAUSE = 5.0, 300.0
"""Seconds between two tries: each pause is twice as long as the one before."""


async def failed(
    record: PostgresRecord, order: Order, before: RunState, place: str, cause: BaseException
) -> Rest:
    """Take the waiting commands, and say when to try again; after too many tries, pause the run.

    Whatever the cause (the remote is out of reach, its ref or a credential is gone, a disk is full, the setup
    fails), a person has to hear of it, and can end the run meanwhile.
    """
    now = (await record.load()).state
    failures = 1 if len(now.laps) > len(before.laps) else order.failures + 1
    words = f"Attempt {failures} of {MOST_FAILURES} to drive the run failed on {place}: {_said(cause)}"
    lap, attempt = (now.open.number, now.open.attempt) if now.open else (len(now.laps), 1)
    told = Activity(kind="retry", text=secrets_of(now.plan).redact(words))
    record.show(ShownActivity(at=time.time(), lap=lap, attempt=attempt, activity=told))
    state = await settle(record, words if failures >= MOST_FAILURES else "")
    if state is None:
        raise JournalTaken(f"Run {record.id} was taken over by another driver.")
    if state.outcome is not None:
        return Rest(kind="over", outcome=str(state.outcome), place=place)
    if state.pause is not None and state.pause.until is None:
        return Rest(kind="paused", place=place)
    pause = min(FIRST_PAUSE * 2 ** (failures - 1), LONGEST_PAUSE)
    return Rest(kind="retrying", until=time.time() + pause, place=place, failures=failures)


def _said(cause: BaseException) -> str:
    if isinstance(cause, UntilgreenError):
        return str(cause)
    if isinstance(cause, OSError) and cause.strerror:
        where = f" ({cause.filename})" if cause.filename else ""
        return f"{cause.strerror}{where}. Fix that on this machine."
    return f"{type(cause).__name__}: {cause}. See that worker's log."
