"""What is done around a run: before it begins, when a signal comes, and after a driver that died."""

import signal
import sys
import tempfile
from pathlib import Path

import pytest
from msgspec.structs import replace

from untilgreen.engine.drive import SIGNALS, clear_up, heeded, start
from untilgreen.engine.store import Store
from untilgreen.errors import WorkspaceNotReady
from untilgreen.process.private import private_directory
from untilgreen.testing.world import World
from untilgreen.workspace.claim import DirectoryClaim

NOON = 1_785_000_000.0


@pytest.mark.anyio
async def test_a_run_that_could_not_begin_leaves_nothing(tmp_path: Path) -> None:
    place, store = tmp_path / "place", Store(tmp_path / "state")
    place.mkdir()
    plan = replace(World().plan, workspace={"start": str(place)})

    with (
        DirectoryClaim(place, run="another", state_dir=store.state_dir),
        pytest.raises(WorkspaceNotReady, match="Run another works in"),
    ):
        await start(plan, store)

    assert list((store.state_dir / "runs").iterdir()) == []


@pytest.mark.anyio
async def test_what_a_dead_driver_had_put_aside_for_a_turn_is_removed(tmp_path: Path) -> None:
    run = Store(tmp_path / "state").create(NOON, workspace=tmp_path)
    note = run.notes / "turn-1.private"
    with private_directory("turn", None) as aside:
        note.write_text(str(aside))
        await clear_up(run, 0.0)

        assert (aside.exists(), note.exists()) == (False, False)
    assert aside.parent == Path(tempfile.gettempdir())


@pytest.mark.skipif(sys.platform == "win32", reason="signals are those of POSIX")
def test_a_signal_that_was_ignored_from_the_start_stays_ignored() -> None:
    """As nohup does it."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        assert heeded() == tuple(each for each in SIGNALS if each != signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)
