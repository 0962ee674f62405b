"""Merges the result of a run into the user's files, on top of what changed there since.

The current files are saved first. Nothing is written if both sides changed the same lines, unless a person
asks for conflict markers.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from untilgreen.core.values.model import Change
from untilgreen.core.values.state import RunState
from untilgreen.engine.store.atomic_file import put
from untilgreen.engine.store.folder_record import FolderRecord
from untilgreen.engine.store.runs import Store
from untilgreen.engine.wiring.workplace import start_of, workplace
from untilgreen.engine.worktree.result_commit import result_tree
from untilgreen.engine.worktree.setup import without_links
from untilgreen.errors import UserError
from untilgreen.ports import Restoration
from untilgreen.workspace.directory_lock import DirectoryLock
from untilgreen.workspace.factory import git_root, open_workspace
from untilgreen.workspace.git_workspace import GitWorkspace
from untilgreen.workspace.restore import Intents
from untilgreen.workspace.three_way_merge import Conflict, Merging

BEFORE = "before-apply"
_APPLIED = "applied.json"


class Applied(Struct, frozen=True, kw_only=True):
    """What was applied."""

    changes: Sequence[Change]
    """What it changes, or would change, in the user's files."""
    conflicts: tuple[Conflict, ...] = ()
    written: bool = False
    kept: tuple[str, ...] = ()
    """Files that another process was writing, so they were left alone."""


class _Note(Struct, frozen=True, kw_only=True):
    """How to undo it."""

    before: str
    after: str


async def apply_result(
    state: RunState, folder: FolderRecord, store: Store, snapshot: str, *, markers: bool, dry_run: bool
) -> Applied:
    """Merge what the run changed into the directory that it was started from."""
    start = _start(state)
    with DirectoryLock(await git_root(start) or start, run=folder.id, state_dir=store.state_dir):
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


def _remember(folder: FolderRecord, note: _Note) -> None:
    put(folder.path / _APPLIED, msgspec.json.encode(note))


async def take_back(state: RunState, folder: FolderRecord, store: Store) -> Restoration:
    """Undo the last apply of a run; files changed since are left alone."""
    start = _start(state)
    with DirectoryLock(await git_root(start) or start, run=folder.id, state_dir=store.state_dir):
        note = _remembered(folder)
        workspace = await _users_files(state, folder)
        done = await workspace.restore(note.before, note.after)
        (folder.path / _APPLIED).unlink()
    return done


def was_applied(folder: FolderRecord) -> bool:
    """Whether a result of the run is in the user's files."""
    return (folder.path / _APPLIED).exists()


def _remembered(folder: FolderRecord) -> _Note:
    try:
        return msgspec.json.decode((folder.path / _APPLIED).read_bytes(), type=_Note)
    except (FileNotFoundError, ValueError):
        raise UserError(
            f"Nothing of run {folder.id} was applied, so there is nothing to undo. "
            f"Apply it with `untilgreen apply {folder.id}`."
        ) from None


async def _users_files(state: RunState, folder: FolderRecord) -> GitWorkspace:
    """The directory that the run was started from; an interrupted apply there is undone first."""
    start = _start(state)
    if not workplace(state.plan).repository:  # without git the trees are in the run's own folder
        return await open_workspace(start, run=folder.id, private_dir=folder.scratch.private)
    private = folder.scratch.origin
    workspace = await open_workspace(start, run=folder.id, private_dir=private)
    cut_off = Intents(private).read()
    if cut_off is not None:
        await workspace.restore(cut_off.before, cut_off.before)
    return workspace


def _start(state: RunState) -> Path:
    """The directory that the run was started from."""
    return without_links(start_of(state.plan), workplace(state.plan).below)


async def _base(state: RunState, workspace: GitWorkspace) -> str:
    """What both sides started from: the commit of a worktree, or the untouched files."""
    where = workplace(state.plan)
    if where.in_worktree and where.commit:
        return await Merging(workspace).tree(where.commit)
    first = state.snapshot_of(0)
    if first is None:
        raise UserError(f"Run {state.run} has no snapshot yet.")
    return first
