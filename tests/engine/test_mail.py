"""Commands that meet a run while its driver comes or goes."""

from pathlib import Path

import anyio
import pytest

from untilgreen.core.events import Attached, Event, Paused, Resumed, RunStarted
from untilgreen.core.receive import Resume
from untilgreen.engine.lock import hold
from untilgreen.engine.mail import let_go_on
from untilgreen.engine.pruning import discard
from untilgreen.engine.store import RunFolder, Store
from untilgreen.journal.file import FileJournal
from untilgreen.testing.world import World

NOON = 1_785_000_000.0


async def begun(folder: Path, *events: Event) -> RunFolder:
    run = Store(folder / "state").create(NOON, workspace=folder)
    for event in (RunStarted(at=NOON, run=run.id, plan=World().plan), *events):
        await FileJournal(run.journal).append(event)
    return run


def attached() -> Attached:
    return Attached(at=NOON, seat="unattended", answers=False, pid=1, host="here", version="0")


@pytest.mark.anyio
async def test_a_pause_is_ended_by_whoever_is_left_when_the_driver_goes(tmp_path: Path) -> None:
    """Whoever ended it drives: the one that drove when somebody looked is gone."""
    run = await begun(tmp_path, attached(), Paused(at=NOON, reason="lunch"))
    elsewhere = list[bool]()

    async def resume() -> None:
        elsewhere.append(await let_go_on(run, Resume(at=NOON)))

    async with anyio.create_task_group() as group:
        with hold(run.lock, run=run.id, now=NOON):
            group.start_soon(resume)
            await anyio.sleep(0.3)

    assert elsewhere == [False]
    assert isinstance((await FileJournal(run.journal).events())[-1], Resumed)


@pytest.mark.anyio
async def test_a_run_that_somebody_begins_to_drive_is_not_discarded(tmp_path: Path) -> None:
    run = await begun(tmp_path)

    with hold(run.lock, run=run.id, now=NOON):
        await discard(run)
        assert run.complete
    await discard(run)

    assert not run.path.exists()
