"""The result of a run in the files of its user, on top of whatever they have become since.

What is there is kept first. Nothing is written where both sides changed the same lines, unless a person
asks for the markers.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from untilgreen.core.model import Change
from untilgreen.core.state import RunState
from untilgreen.engine import wiring
from untilgreen.engine.delivery import result_tree
from untilgreen.engine.places import COMMIT, in_worktree
from untilgreen.engine.store import RunFolder, Store, put
from untilgreen.engine.trees import ORIGIN
from untilgreen.errors import UserError
from untilgreen.ports import Restoration
from untilgreen.workspace.claim import DirectoryClaim
from untilgreen.workspace.git import GitWorkspace
from untilgreen.workspace.merging import Conflict, Merging
from untilgreen.workspace.open import git_root, open_workspace
from untilgreen.workspace.restoring import Intents

BEFORE = "before-apply"
_APPLIED = "applied.json"


class Applied(Struct, frozen=True, kw_only=True):
    """What became of it."""

    changes: Sequence[Change]
    """What it changes, or would change, in the user's files."""
    conflicts: tuple[Conflict, ...] = ()
    written: bool = False
    kept: tuple[str, ...] = ()
    """Files that somebody wrote in this very moment, and that were left alone."""


class _Note(Struct, frozen=True, kw_only=True):
    """The way back."""

    before: str
    after: str


async def apply_result(
    state: RunState, folder: RunFolder, store: Store, snapshot: str, *, markers: bool, dry_run: bool
) -> Applied:
    """Merge what the run changed into the directory that it was started from."""
    start = Path(state.plan.workspace[wiring.START])
    with DirectoryClaim(await git_root(start) or start, run=folder.id, state_dir=store.state_dir):
        workspace = await _users_files(state, folder)
        ours = await workspace.snapshot(BEFORE)
        base = await _base(state, workspace)
        theirs = await result_tree(state, workspace, snapshot)
        merged = await Merging(workspace).merge(base, ours, theirs, f"run {folder.id}")
        changes = await workspace.changes(ours, merged.tree)
        if dry_run or (merged.conflicts and not markers) or not changes:
            return Applied(changes=changes, conflicts=merged.conflicts)
        _remember(folder, _Note(before=ours, after=merged.tree))
        done = await workspace.restore(merged.tree, ours)
    return Applied(changes=changes, conflicts=merged.conflicts, written=True, kept=done.kept)


def _remember(folder: RunFolder, note: _Note) -> None:
    put(folder.path / _APPLIED, msgspec.json.encode(note))


async def take_back(state: RunState, folder: RunFolder, store: Store) -> Restoration:
    """Undo the last apply of a run; what somebody changed since stays as it is."""
    start = Path(state.plan.workspace[wiring.START])
    with DirectoryClaim(await git_root(start) or start, run=folder.id, state_dir=store.state_dir):
        note = _remembered(folder)
        workspace = await _users_files(state, folder)
        done = await workspace.restore(note.before, note.after)
        (folder.path / _APPLIED).unlink()
    return done


def _remembered(folder: RunFolder) -> _Note:
    try:
        return msgspec.json.decode((folder.path / _APPLIED).read_bytes(), type=_Note)
    except (FileNotFoundError, ValueError):
        raise UserError(
            f"Nothing of run {folder.id} was applied, so there is nothing to undo. "
            f"Apply it with `untilgreen apply {folder.id}`."
        ) from None


async def _users_files(state: RunState, folder: RunFolder) -> GitWorkspace:
    """The directory that the run was started from; an apply that was cut off there is taken back first."""
    start = Path(state.plan.workspace[wiring.START])
    if COMMIT not in state.plan.workspace:  # without git the trees are in the run's own folder
        return await open_workspace(start, run=folder.id, private_dir=folder.path / "workspace")
    private = folder.path / ORIGIN
    workspace = await open_workspace(start, run=folder.id, private_dir=private)
    cut_off = Intents(private).read()
    if cut_off is not None:
        await workspace.restore(cut_off.before, cut_off.before)
    return workspace


async def _base(state: RunState, workspace: GitWorkspace) -> str:
    """What both sides began with: the commit of a worktree, or the untouched files."""
    if in_worktree(state.plan):
        return await Merging(workspace).tree(state.plan.workspace[COMMIT])
    first = state.snapshot_of(0)
    if first is None:
        raise UserError(f"Run {state.run} has kept no files yet.")
    return first
