"""Runs that no worker can drive: each is tried a few times, then waits for a person, who can end it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from anyio import to_thread
from temporalio.client import WorkflowExecutionStatus

from tests.fleet.audit import audit
from tests.fleet.fleet_bench import FleetBench, names, over, until
from tests.fleet.test_commands import Typed
from untilgreen.core.loop.receive import Resume
from untilgreen.core.values.model import Outcome
from untilgreen.engine.driving.sending import deliver
from untilgreen.fleet.client import Fleet
from untilgreen.fleet.failures import MOST_FAILURES
from untilgreen.fleet.runs.record import PostgresRecord

pytestmark = pytest.mark.anyio
ONE = "test -s lines"
UP_TO_NOW = MOST_FAILURES - 2
"""Failures that a run already has, so that a test has to wait for only two more."""


def typed(bench: FleetBench) -> Typed:
    found = Typed(bench.project, bench.folder / "state")
    found.env["UNTILGREEN_FLEET"] = bench.url
    return found


@contextmanager
def nobody_reaches_the_remote(bench: FleetBench) -> Iterator[None]:
    away = bench.remote.with_name("away.git")
    bench.remote.rename(away)
    try:
        yield
    finally:
        away.rename(bench.remote)


async def reason_of_its_pause(fleet: Fleet, record: PostgresRecord) -> str:
    """Wait until the run is paused for a person, and return why; knocks skip the time between tries."""

    async def paused() -> bool:
        kind = (await fleet.client.get_workflow_handle(record.id).query("standing"))["kind"]
        if kind == "retrying":
            await fleet.knock(record.id)
        return bool(kind == "paused")

    await until(paused)
    pause = (await record.load()).state.pause
    assert pause is not None
    return pause.reason


async def test_a_run_whose_remote_nobody_reaches_waits_for_a_person_with_the_words_of_git(
    fleet: Fleet, bench: FleetBench
) -> None:
    await bench.ready()
    record = await bench.begin(fleet, bench.agent(0.1), ONE, failures=UP_TO_NOW)
    with nobody_reaches_the_remote(bench):
        machine, *_ = await bench.ready("one")
        reason = await reason_of_its_pause(fleet, record)
        await until(lambda: not machine.drivers())
    seen = await to_thread.run_sync(typed(bench), "show", record.id)

    assert f"Attempt {MOST_FAILURES} of {MOST_FAILURES} to drive the run failed on one-" in reason
    assert f"`git fetch` can't use the remote {str(bench.remote)!r}; git says: fatal: " in reason
    assert "does not appear to be a git repository" in reason
    assert (seen[0], "can't use the remote" in seen[1]) == (0, True), seen[1]

    assert await deliver(fleet.records.record(record.id), Resume(at=time.time(), by="me")) == ""
    await over(record)
    await audit(fleet, bench, record)


async def test_a_run_that_cannot_be_set_up_anywhere_waits_for_a_person_and_can_be_stopped(
    fleet: Fleet, bench: FleetBench
) -> None:
    await bench.ready("one")
    spec = {"workspace": {"mode": "worktree", "setup": ["echo no compiler here; exit 3"]}}
    record = await bench.begin(fleet, bench.agent(0.1), ONE, failures=UP_TO_NOW, **spec)

    reason = await reason_of_its_pause(fleet, record)
    code, said = await to_thread.run_sync(typed(bench), "stop", record.id)
    state = await over(record)

    assert "The worktree can't be set up: 'echo no compiler here; exit 3' " in reason
    assert "no compiler here" in reason.splitlines()[-1]
    assert (code, state.outcome) == (0, Outcome.CANCELLED), said
    assert names(await record.open_journal().events()) == [
        "RunStarted",
        "Paused",
        "StopRequested",
        "RunFinished",
    ]


async def test_a_run_that_is_tried_again_and_again_is_cancelled_at_once(
    fleet: Fleet, bench: FleetBench
) -> None:
    await bench.ready()
    record = await bench.begin(fleet, bench.agent(0.1), ONE)
    with nobody_reaches_the_remote(bench):
        machine, *_ = await bench.ready("one")
        await until(lambda: "can't use the remote" in machine.log())
        await until(lambda: not machine.drivers())
        shown = await to_thread.run_sync(typed(bench), "show", record.id)
        code, said = await to_thread.run_sync(typed(bench), "cancel", record.id)
        state = await over(record)

    assert (code, state.outcome) == (0, Outcome.CANCELLED), said
    assert f"of {MOST_FAILURES} to drive the run failed on one-" in shown[1], shown[1]


async def test_a_setup_that_takes_long_does_not_keep_a_run_from_being_cancelled(
    fleet: Fleet, bench: FleetBench
) -> None:
    machine, *_ = await bench.ready("one")
    record = await bench.begin(
        fleet, bench.agent(0.1), ONE, workspace={"mode": "worktree", "setup": ["sleep 8642"]}
    )
    await until(lambda: machine.named("sleep 8642"))

    code, said = await to_thread.run_sync(typed(bench), "cancel", record.id)
    state = await over(record)

    assert (code, state.outcome) == (0, Outcome.CANCELLED), said
    await until(lambda: not machine.named("sleep 8642"))


@pytest.mark.parametrize("verb", ["stop", "cancel"])
@pytest.mark.parametrize("needs", ["a label", "a program"])
async def test_a_run_that_no_worker_ever_took_ends_at_once(
    fleet: Fleet, bench: FleetBench, needs: str, verb: str
) -> None:
    await bench.ready("one")
    spec = {"labels": {"tpu": ""}} if needs == "a label" else {}
    agent = bench.agent(0.1) if needs == "a label" else "an-agent-that-nobody-has"
    record = await bench.begin(fleet, agent, ONE, **spec)

    noted = await to_thread.run_sync(typed(bench), "steer", record.id, "look")
    code, said = await to_thread.run_sync(typed(bench), verb, record.id)
    state = (await record.load()).state

    assert noted[0] == 0, noted[1]
    assert (code, state.outcome) == (0, Outcome.CANCELLED), said
    assert (f"Run {record.id} has ended." in said) is (verb == "stop"), said
    end = "StopRequested" if verb == "stop" else "Cancelled"
    assert names(await record.open_journal().events()) == ["RunStarted", "Steered", end, "RunFinished"]

    async def left() -> bool:
        described = await fleet.client.get_workflow_handle(record.id).describe()
        return described.status is not WorkflowExecutionStatus.RUNNING

    await until(left)  # a worker that lacks the program may have been the first to see the command


async def test_what_a_turn_did_is_found_in_its_directory_after_the_remote_was_away(
    fleet: Fleet, bench: FleetBench
) -> None:
    machine, *_ = await bench.ready("one")
    record = await bench.begin(fleet, bench.agent(2.0), ONE)
    await bench.driving(record)
    with nobody_reaches_the_remote(bench):
        await until(lambda: machine.log().count("can't use the remote") >= 2)
    await fleet.knock(record.id)
    await over(record)

    await audit(fleet, bench, record)
    begun = [note for note in bench.notes() if note["run"] == record.id and note["what"] == "begin"]
    assert len(begun) == 1, "The turn was repeated although its files were there."
