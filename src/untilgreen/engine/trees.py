"""The trees that a run kept, for looking at and bringing back when nobody drives it."""

from __future__ import annotations

from pathlib import Path

from untilgreen.core.state import RunState
from untilgreen.engine import wiring
from untilgreen.engine.store import RunFolder, Store
from untilgreen.engine.worktrees import root_of, top_of, worktree_of
from untilgreen.errors import UserError
from untilgreen.ports import Restoration
from untilgreen.workspace.claim import DirectoryClaim
from untilgreen.workspace.git import GitWorkspace
from untilgreen.workspace.open import open_workspace

ORIGIN = "origin"
"""The folder of a run for what is looked up in its user's own directory."""


async def workspace_of(state: RunState, folder: RunFolder) -> GitWorkspace:
    """The workspace of a run, as its driver sees it; without its worktree only the trees are left."""
    start, private = root_of(state.plan, folder), folder.path / "workspace"
    if worktree_of(state.plan, folder) is not None and not start.is_dir():
        start, private = Path(state.plan.workspace[wiring.START]), folder.path / ORIGIN
    return await open_workspace(start, run=folder.id, private_dir=private)


async def restore_tree(state: RunState, folder: RunFolder, store: Store, snapshot: str) -> Restoration:
    """Bring a snapshot back by hand: refused while a run works in the directory."""
    if not root_of(state.plan, folder).is_dir():
        raise UserError(
            f"Run {folder.id} has no directory any more to put files into. "
            f"Bring them into yours with `untilgreen apply {folder.id}`."
        )
    with DirectoryClaim(await top_of(state.plan, folder), run=folder.id, state_dir=store.state_dir):
        workspace = await workspace_of(state, folder)
        return await workspace.restore(snapshot, None)


async def kept_tree(state: RunState, folder: RunFolder, beginning: str) -> str:
    """The snapshot that the run keeps under an id that begins so."""
    kept = await (await workspace_of(state, folder)).kept()
    fitting = [tree for tree in kept if tree.startswith(beginning.lower())]
    if len(fitting) == 1 and beginning:
        return fitting[0]
    if not fitting or not beginning:
        raise UserError(
            f"Run {folder.id} keeps no snapshot {beginning!r}. Name a lap instead, like {folder.id}@1."
        )
    raise UserError(f"{beginning!r} fits {len(fitting)} snapshots: {', '.join(fitting)}. Write more of it.")
