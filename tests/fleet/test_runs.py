"""Runs of a fleet on real servers, without faults: driven, answered, labeled, limited."""

from __future__ import annotations

import os
import time
from pathlib import Path

import anyio
import pytest
from anyio import to_thread

from tests.fleet.audit import audit
from tests.fleet.fleet_bench import FleetBench, names, over, until
from tests.fleet.test_commands import Typed
from untilgreen.core.loop.receive import Cancel, Pause, Resume, Steer
from untilgreen.core.values.events import Attached
from untilgreen.core.values.model import Outcome
from untilgreen.engine.store.hub import LOOK_SECONDS, LOOKS
from untilgreen.fleet.client import Fleet

pytestmark = pytest.mark.anyio
THREE = "test $(wc -l < lines) -ge 3"


async def test_a_run_converges_and_its_branch_is_on_the_remote(fleet: Fleet, bench: FleetBench) -> None:
    await bench.ready("one")

    record = await bench.begin(fleet, bench.agent(0.1), f"wc -l < lines; {THREE}")
    state = await over(record)

    events = await audit(fleet, bench, record)
    assert len(state.laps) == 3
    assert len(bench.branch(record.id).splitlines()) == 3
    assert [event.host for event in events if isinstance(event, Attached)] == ["one"]
    assert state.place.startswith("one-")
    output = state.laps[0].verdicts["done"].output
    assert output is not None
    assert (await record.kept(output) or b"").strip() == b"1"
    assert b"Do it." in (await record.kept("activity/001-brief.md") or b"")


async def test_uncommitted_changes_are_the_first_snapshot_and_stay_as_they_are_here(
    fleet: Fleet, bench: FleetBench
) -> None:
    await bench.ready("one")
    (bench.project / "README").write_text("changed\n")
    (bench.project / "new").write_text("new\n")
    before = bench.git("status", "--porcelain")

    record = await bench.begin(fleet, bench.agent(0.1), "grep -q changed README && test -e new -a -e lines")
    state = await over(record)
    seen = bench.git("status", "--porcelain")
    bench.git("checkout", "-q", "README")
    bench.git("clean", "-fdq")

    await audit(fleet, bench, record)
    assert len(state.laps) == 1
    assert bench.git("show", f"untilgreen/{record.id}:README", there=True) == "changed\n"
    assert before == seen == " M README\n?? new\n"
    assert bench.git("for-each-ref", "refs/untilgreen") == ""
    assert [words for words in bench.warnings if "pushed to origin with it: README, new" in words]


async def test_a_command_reaches_a_run_that_waits(fleet: Fleet, bench: FleetBench) -> None:
    machine, *_ = await bench.ready("one")
    record = await bench.begin(fleet, bench.agent(0.1), "false", strategy={"use": "manual"})

    async def asks() -> bool:
        state = (await record.load()).state
        return state.asked is not None and await record.driver() is None and not machine.drivers()

    await until(asks)
    opened = await fleet.records.open(record.id[:6], Path())
    noted = await opened.send(Steer(at=time.time(), by="me", id="n1", note="look"))
    await opened.wake()
    assert await opened.reply(noted, 30) == ""
    ended = await opened.send(Cancel(at=time.time(), by="me", reason="enough"))
    await opened.wake()
    assert await opened.reply(ended, 30) == ""
    state = await over(record)

    await audit(fleet, bench, record, Outcome.CANCELLED)
    assert state.reason == "enough"
    assert [note.text for note in state.notes] == ["look"]


async def test_a_run_waits_for_a_worker_with_its_label(fleet: Fleet, bench: FleetBench) -> None:
    await bench.ready("one")
    record = await bench.begin(fleet, bench.agent(0.1), THREE, labels={"gpu": ""})
    other = await bench.begin(fleet, bench.agent(0.1), THREE)
    await over(other)
    assert names(await record.open_journal().events()) == ["RunStarted"]

    bench.machine("gpu", "--label", "gpu")

    assert (await over(record)).place.startswith("gpu-")
    await audit(fleet, bench, record)


async def test_following_a_run_waits_with_it_for_a_worker(fleet: Fleet, bench: FleetBench) -> None:
    await bench.ready()
    record = await bench.begin(fleet, bench.agent(0.1), THREE)
    typed = Typed(bench.project, bench.folder / "state")
    typed.env["UNTILGREEN_FLEET"] = bench.url
    following = typed.start("follow", record.id)
    await anyio.sleep(2 * LOOKS * LOOK_SECONDS)  # a run on this machine would count as interrupted by now

    await bench.ready("one")
    said, _ = await to_thread.run_sync(following.communicate)

    assert (following.returncode, "converged" in said) == (0, True), said
    await audit(fleet, bench, record)


async def test_a_worker_without_the_agent_or_the_secret_never_takes_the_run(
    fleet: Fleet, bench: FleetBench
) -> None:
    poor, *_ = await bench.ready("one")
    tools = bench.folder / "tools"
    tools.mkdir()
    (tools / "rare-agent").write_text("#!/bin/sh\ncat > /dev/null; echo line >> lines\n")
    (tools / "rare-agent").chmod(0o755)
    gate = 'test -s lines -a "${RARE_TOKEN}" = sesame'
    record = await bench.begin(fleet, "rare-agent", gate)

    await until(lambda: "lacks program rare-agent, variable RARE_TOKEN" in poor.log())
    assert names(await record.open_journal().events()) == ["RunStarted"]
    rich = bench.switched_off("rich")
    rich.variables.update(PATH=f"{tools}:{os.environ['PATH']}", RARE_TOKEN="sesame")
    rich.start()

    assert (await over(record)).place.startswith("rich-")
    hosts = {event.host for event in await audit(fleet, bench, record) if isinstance(event, Attached)}
    assert hosts == {"rich"}
    rich.die()


async def test_a_paused_run_has_no_process_and_continues_when_resumed(
    fleet: Fleet, bench: FleetBench
) -> None:
    machine, *_ = await bench.ready("one")
    record = await bench.begin(fleet, bench.agent(), THREE)
    letter = await record.send(Pause(at=time.time(), by="me"))
    assert await record.reply(letter, 30) == ""

    async def undriven() -> bool:
        paused = (await record.load()).state.pause is not None
        return paused and await record.driver() is None and not machine.drivers()

    await until(undriven)
    letter = await record.send(Resume(at=time.time(), by="me"))
    await fleet.knock(record.id)
    assert await record.reply(letter, 30) == ""

    await over(record)
    await audit(fleet, bench, record)


async def test_a_limit_bounds_the_runs_of_an_agent_over_all_machines(fleet: Fleet, bench: FleetBench) -> None:
    await bench.ready("one", "two")
    await fleet.limit("account", 2)
    records = [await bench.begin(fleet, bench.agent(), THREE, limit="account") for _ in range(5)]
    for record in records:
        await over(record)

    for record in records:
        await audit(fleet, bench, record)
    limited = {record.id for record in records}
    at_work, most = 0, 0
    for note in bench.notes():  # in order, from all machines
        if note["run"] in limited:
            at_work += 1 if note["what"] == "begin" else -1
            most = max(most, at_work)
    held = await fleet.client.get_workflow_handle("limit:account").query("held")
    assert (most, held) == (2, [[], []])
