"""A run that has its own driver process, and is answered from another one."""

import os
import sys
from pathlib import Path

import anyio
import pytest
from msgspec.structs import replace

from tests.engine.driving.helpers import NOON, begun
from untilgreen.core.loop.receive import Answer, Cancel, question_id
from untilgreen.core.values.state import RunState
from untilgreen.engine.driving.launch import DriverEnded, deliver_and_launch, launch
from untilgreen.engine.store.folder_record import FolderRecord
from untilgreen.engine.store.runs import Store
from untilgreen.engine.worktree.premises import LocalPremises
from untilgreen.errors import WorkspaceNotReady
from untilgreen.ports import Hold

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform == "win32", reason="detached drivers need POSIX"),
]
PATIENCE = 60.0


async def until(record: FolderRecord, what: str) -> RunState:
    with anyio.fail_after(PATIENCE):
        while True:
            state = (await FolderRecord(record.path).load()).state
            asks = question_id(state) and await record.driver() is None
            if (what == "asks" and asks) or (what == "over" and state.outcome is not None):
                return state
            await anyio.sleep(0.05)


async def test_a_launched_run_is_driven_by_the_process_that_is_named(tmp_path: Path) -> None:
    record = await begun(tmp_path, "fixed")

    pid = await launch(record)

    state = await until(record, "over")
    assert pid != os.getpid()
    assert (state.seat, state.answers) == ("served", True)


async def test_a_run_that_waits_has_no_process_and_is_driven_again_when_the_answer_comes(
    tmp_path: Path,
) -> None:
    record = await begun(tmp_path, "manual")
    await launch(record)
    waiting = await until(record, "asks")
    first = question_id(waiting)

    assert await deliver_and_launch(record, Answer(at=NOON, choice="continue", question=first)) == ""
    again = await until(record, "asks")
    late = await deliver_and_launch(record, Answer(at=NOON, choice="continue", question=first))

    assert len(again.laps) == len(waiting.laps) + 1
    assert late == f"Question {first!r} is no longer open. See `untilgreen show {record.id}`."
    assert await deliver_and_launch(record, Cancel(at=NOON)) == ""
    assert str((await until(record, "over")).outcome) == "cancelled"


async def test_a_driver_that_can_not_begin_says_why(tmp_path: Path) -> None:
    record = Store(tmp_path / "state").create(NOON, workspace=tmp_path)

    words = [sys.executable, "-c", "import sys; sys.exit('This machine is on fire.')"]

    with pytest.raises(
        DriverEnded, match=r"exited immediately\. Its last output: This machine is on fire\."
    ) as ended:
        await launch(record, words)

    assert ended.value.code == 1


async def test_the_copy_of_a_run_of_a_fleet_is_never_driven_here(tmp_path: Path) -> None:
    """Driving it here too would give one run two histories."""
    record = await begun(tmp_path, "fixed")
    lines = record.journal.read_bytes()
    state = (await record.load()).state
    remote = replace(state.plan, workspace={"mode": "worktree", "remote": "git@host:x", "commit": "c" * 40})

    with pytest.raises(WorkspaceNotReady, match=r"belongs to a fleet.*untilgreen fork .* --fleet"):
        async with LocalPremises(Store(record.scratch.state_dir)).enter(
            replace(state, plan=remote), Hold(journal=record.open_journal(), run=None)
        ):
            pass

    assert record.journal.read_bytes() == lines
