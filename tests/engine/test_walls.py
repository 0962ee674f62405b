"""What the walls of a run are made of."""

import shutil
import sys
from pathlib import Path

import pytest

from untilgreen.core.model import Plan, Sandbox
from untilgreen.engine.walls import OPEN, enclosure
from untilgreen.errors import WorkspaceNotReady
from untilgreen.process.run import run
from untilgreen.process.start import shell

pytestmark = pytest.mark.anyio
BWRAP = pytest.mark.skipif(
    shutil.which("bwrap") is None, reason="bubblewrap is not installed: make test-sandbox"
)
HERE = Path(__file__).parents[2]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def plan(**sandbox: object) -> Plan:
    return Plan(task="do it", sandbox=Sandbox(mode="bwrap", **sandbox))  # type: ignore[arg-type]  # for brevity


async def test_without_a_sandbox_there_are_no_walls(tmp_path: Path) -> None:
    assert await enclosure(Plan(task="do it"), tmp_path, tmp_path / "state") == OPEN


@BWRAP
@pytest.mark.skipif(not Path(sys.prefix).is_relative_to(HERE), reason="the environment is not in the clone")
async def test_the_environment_that_we_run_from_is_not_the_agents_to_change(tmp_path: Path) -> None:
    inside = await enclosure(plan(), HERE, tmp_path / "state")
    planted = Path(sys.prefix, "planted")

    ran = await run(shell(f"touch {planted}"), cwd=HERE, walls=inside.agents, merge=True)

    assert "Read-only file system" in ran.stdout


@BWRAP
async def test_who_has_the_network_is_said_for_agents_and_gates_apart(tmp_path: Path) -> None:
    found = {}
    for network in ("all", "agents", "none"):
        inside = await enclosure(plan(network=network), tmp_path, tmp_path / "state")
        judge = inside.around("judge")
        assert inside.agents is not None
        assert inside.gates is not None
        assert judge is not None
        found[network] = (inside.agents.network, inside.gates.network, judge.network)
        assert not [mount for mount in judge.mounts if mount.way == "write"]

    assert found == {
        "all": (True, True, True),
        "agents": (True, False, True),
        "none": (False, False, False),
    }


@BWRAP
async def test_a_place_to_write_to_has_to_be_there(tmp_path: Path) -> None:
    with pytest.raises(
        WorkspaceNotReady, match=r"sandbox.write names '/nowhere/at/all', and there is no such"
    ):
        await enclosure(plan(write=("/nowhere/at/all",)), tmp_path, tmp_path / "state")
