"""Cleaning up after a driver that died."""

import tempfile
from pathlib import Path

import pytest

from untilgreen.engine.store.runs import Store
from untilgreen.process.scratch_directory import private_directory

NOON = 1_785_000_000.0


@pytest.mark.anyio
async def test_what_a_dead_driver_had_put_aside_for_a_turn_is_removed(tmp_path: Path) -> None:
    run = Store(tmp_path / "state").create(NOON, workspace=tmp_path)
    note = run.scratch.notes / "turn-1.private"
    with private_directory("turn", None) as aside:
        note.write_text(str(aside))
        await run.scratch.clear_up(0.0)

        assert (aside.exists(), note.exists()) == (False, False)
    assert aside.parent == Path(tempfile.gettempdir())
