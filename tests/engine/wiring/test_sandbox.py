"""The sandbox of a run: what agents and gates can see and write."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from untilgreen.core.values.model import Plan, SandboxSpec
from untilgreen.engine.wiring.sandbox import OPEN, enclosure
from untilgreen.errors import AgentUnavailable, WorkspaceNotReady
from untilgreen.ports import Mount, Sandbox
from untilgreen.process.run import run
from untilgreen.process.start import shell
from untilgreen.workspace.worktree import Worktree

pytestmark = pytest.mark.anyio
BWRAP = pytest.mark.skipif(
    shutil.which("bwrap") is None, reason="bubblewrap is not installed: make test-sandbox"
)
HERE = Path(__file__).parents[3]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def plan(**sandbox: object) -> Plan:
    told = {"as_root": os.getuid() == 0, **sandbox}
    return Plan(task="do it", sandbox=SandboxSpec(mode="bwrap", **told))  # type: ignore[arg-type]  # for brevity


async def test_without_a_sandbox_there_are_no_walls(tmp_path: Path) -> None:
    assert await enclosure(Plan(task="do it"), tmp_path, tmp_path / "state") == OPEN


@BWRAP
@pytest.mark.skipif(not Path(sys.prefix).is_relative_to(HERE), reason="the environment is not in the clone")
async def test_the_environment_that_we_run_from_is_not_the_agents_to_change(tmp_path: Path) -> None:
    inside = await enclosure(plan(), HERE, tmp_path / "state")
    planted = Path(sys.prefix, "planted")

    ran = await run(shell(f"touch {planted}"), cwd=HERE, sandbox=inside.agents, merge=True)

    assert "Read-only file system" in ran.stdout
    listed = (await enclosure(plan(write=(sys.prefix,)), HERE, tmp_path / "state")).agents
    assert listed is not None
    ways = {mount.path: mount.way for mount in listed.mounts}  # in mount order: the last one counts
    assert ways[planted.parent] == "write"


@BWRAP
async def test_the_network_is_set_separately_for_agents_and_gates(tmp_path: Path) -> None:
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
        WorkspaceNotReady, match=r"sandbox.write names '/nowhere/at/all', which does not exist"
    ):
        await enclosure(plan(write=("/nowhere/at/all",)), tmp_path, tmp_path / "state")


@BWRAP
@pytest.mark.parametrize("way", ["read", "write"])
async def test_no_link_of_an_agent_leads_to_a_path_that_is_named(way: str, tmp_path: Path) -> None:
    place, named = tmp_path / "work", tmp_path / "elsewhere" / "named"
    for folder in (place, named):
        folder.mkdir(parents=True)
    (place / "link").symlink_to(named.parent)

    with pytest.raises(AgentUnavailable, match="is a link in a directory that agents can write"):
        await enclosure(plan(**{way: (f"{place}/link/named",)}), place, tmp_path / "state")


def repository(place: Path) -> Path:
    script = """git init -q -b main . && git config user.name A && git config user.email a@b
git commit -q --allow-empty -m one && git repack -qad"""
    place.mkdir()
    subprocess.run(["sh", "-ec", script], cwd=place, check=True)
    return place


async def written(paths: str, place: Path, sandbox: Sandbox | None) -> list[str]:
    """The paths that can be written or created inside the sandbox."""
    assert sandbox is not None
    tries = f'for path in {paths}; do if touch "$path" 2>/dev/null; then echo "$path"; fi; done'
    return (await run(shell(tries), cwd=place, sandbox=sandbox)).stdout.split()


@BWRAP
async def test_in_place_the_repository_can_only_be_read_and_the_state_not_be_seen(tmp_path: Path) -> None:
    place, state = repository(tmp_path / "work"), tmp_path / "work" / "state"
    (state / "runs").mkdir(parents=True)
    inside = await enclosure(plan(), place, state)

    for sandbox in (inside.agents, inside.gates):
        paths = "file .git/config .git/hooks/post-commit .git/refs/heads/main .git/index .git/objects/x"
        assert await written(paths, place, sandbox) == ["file"]
        seen = await run(shell(f"ls -A {state}"), cwd=place, sandbox=sandbox)
        assert (seen.status, seen.stdout) == (0, "")


@BWRAP
async def test_the_whole_repository_around_a_directory_can_be_written(tmp_path: Path) -> None:
    below = repository(tmp_path / "work") / "below"
    below.mkdir()
    inside = await enclosure(plan(), below, tmp_path / "state")

    assert await written("file ../file ../.git/config", below, inside.agents) == ["file", "../file"]
    assert (below.parent / "file").exists(), "it was written to an empty /tmp"


@BWRAP
async def test_in_a_worktree_the_branch_of_the_run_can_be_moved_and_nothing_else(tmp_path: Path) -> None:
    origin, state = repository(tmp_path / "work"), tmp_path / "state"
    common = origin / ".git"
    worktree = Worktree(path=state / "tree", repository=common, run="r")
    await worktree.make("HEAD", origin)
    (state / "other").mkdir()
    (admin,) = worktree.admins()
    inside = await enclosure(plan(), worktree.path, state, worktree)

    paths = (
        f"file .git {admin}/index {admin}/config.worktree {admin}/commondir {admin}/gitdir "
        f"{common}/config {common}/hooks/post-commit {common}/refs/heads/main {common}/refs/heads/new "
        f"{common}/refs/heads/untilgreen/r {common}/objects/new {common}/objects/pack/new "
        f"{common}/objects/info/alternates {common}/packed-refs"
    )
    own = [f"{admin}/index", f"{common}/refs/heads/untilgreen/r", f"{common}/objects/new"]
    assert await written(paths, worktree.path, inside.agents) == ["file", *own]
    assert await written(paths, worktree.path, inside.gates) == ["file"]
    commit = await run(
        shell("git add -A && git commit -qm two"), cwd=worktree.path, sandbox=inside.agents, merge=True
    )
    assert (commit.status, commit.stdout) == (0, "")
    seen = await run(shell(f"ls -A {state}"), cwd=worktree.path, sandbox=inside.agents)
    assert seen.stdout == "tree\n"
    assert inside.agents is not None
    assert Mount(path=state, way="empty") in inside.agents.mounts, "not only because /tmp is empty"


@BWRAP
async def test_a_workspace_that_is_or_holds_the_home_directory_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))

    for place in (home, tmp_path):
        with pytest.raises(WorkspaceNotReady, match="The sandbox hides the home directory"):
            await enclosure(plan(), place, tmp_path / "state")
