"""The trees that a run kept, for looking at and bringing back when nobody drives it."""

from __future__ import annotations

from pathlib import Path

from untilgreen.core.state import RunState
from untilgreen.engine import wiring
from untilgreen.engine.store import RunFolder, Store
from untilgreen.errors import UserError
from untilgreen.ports import Restoration, Workspace
from untilgreen.workspace.claim import DirectoryClaim
from untilgreen.workspace.ground import directory_ground, find_ground
from untilgreen.workspace.open import git_root, open_workspace
from untilgreen.workspace.plumbing import Git


async def workspace_of(state: RunState, folder: RunFolder) -> Workspace:
    """The workspace of a run, as its driver sees it."""
    start = Path(state.plan.workspace[wiring.START])
    return await open_workspace(start, run=folder.id, private_dir=folder.path / "workspace")


async def restore_tree(state: RunState, folder: RunFolder, store: Store, snapshot: str) -> Restoration:
    """Bring a snapshot back by hand: refused while a run works in the directory."""
    start = Path(state.plan.workspace[wiring.START])
    with DirectoryClaim(await git_root(start) or start, run=folder.id, state_dir=store.state_dir):
        workspace = await workspace_of(state, folder)
        return await workspace.restore(snapshot, None)


async def kept_tree(state: RunState, folder: RunFolder, beginning: str) -> str:
    """The snapshot that the run keeps under an id that begins so."""
    start = Path(state.plan.workspace[wiring.START])
    ground = await find_ground(start) or directory_ground(start, folder.path / "workspace" / "git")
    git = Git(place=ground.top, variables={"GIT_DIR": str(ground.repository)})
    listed = await git("for-each-ref", "--format=%(objectname)", f"refs/untilgreen/{folder.id}/")
    fitting = sorted({tree for tree in listed.decode().split() if tree.startswith(beginning.lower())})
    if len(fitting) == 1 and beginning:
        return fitting[0]
    if not fitting or not beginning:
        raise UserError(
            f"Run {folder.id} keeps no snapshot {beginning!r}. Name a lap instead, like {folder.id}@1."
        )
    raise UserError(f"{beginning!r} fits {len(fitting)} snapshots: {', '.join(fitting)}. Write more of it.")
