"""A run is created completely or not at all."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from untilgreen.core.values.model import PartSpec
from untilgreen.engine.driving.start import start
from untilgreen.engine.store.runs import Store
from untilgreen.errors import WorkspaceNotReady
from untilgreen.testing.world import World
from untilgreen.workspace.directory_lock import DirectoryLock


@pytest.mark.anyio
async def test_a_run_that_could_not_begin_leaves_nothing(tmp_path: Path) -> None:
    place, store = tmp_path / "place", Store(tmp_path / "state")
    place.mkdir()
    agent = PartSpec(name="cmd:true", use="command", options={"command": "true"})
    plan = replace(World().plan, workspace={"start": str(place)}, agents=(agent,))

    with (
        DirectoryLock(place, run="another", state_dir=store.state_dir),
        pytest.raises(WorkspaceNotReady, match="Run another is working in"),
    ):
        await start(plan, store)

    assert list((store.state_dir / "runs").iterdir()) == []
