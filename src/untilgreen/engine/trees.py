"""The trees that a run kept, for looking at and bringing back when nobody drives it."""

from __future__ import annotations

from pathlib import Path

from untilgreen.core.state import RunState
from untilgreen.engine import wiring
from untilgreen.engine.store import RunFolder, Store
from untilgreen.ports import Restoration, Workspace
from untilgreen.workspace.claim import DirectoryClaim
from untilgreen.workspace.open import git_root, open_workspace


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
