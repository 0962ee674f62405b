"""Removes old runs: their snapshots, worktree, branch and, last of all, their folder.

The folder knows about the rest, so an interrupted prune is completed by the next one.
"""

from __future__ import annotations

import shutil
from contextlib import suppress
from pathlib import Path
from typing import Literal

import anyio
from msgspec import Struct

from untilgreen.core.values.events import Attached
from untilgreen.core.values.state import RunState
from untilgreen.core.values.units import several, show_duration
from untilgreen.engine.store import lock
from untilgreen.engine.store.folder_record import FolderRecord
from untilgreen.engine.store.reading import state_of
from untilgreen.engine.store.runs import Store
from untilgreen.engine.wiring.workplace import in_worktree, workplace
from untilgreen.engine.worktree import setup
from untilgreen.engine.worktree.snapshots import workspace_of
from untilgreen.errors import JournalError, JournalLocked, RunGone, WorkspaceNotReady
from untilgreen.journal.file import FileJournal
from untilgreen.workspace.directory_lock import DirectoryLock
from untilgreen.workspace.git.command import Git
from untilgreen.workspace.git.loose_ref import LOCK
from untilgreen.workspace.git.repository import find_repository
from untilgreen.workspace.git.snapshot_refs import Refs
from untilgreen.workspace.worktree import Worktree

MOST_NAMED = 5


class Pruned(Struct, frozen=True, kw_only=True):
    """What happened to one run."""

    run: str
    action: Literal["removed", "thinned", "kept"]
    why: str = ""
    left: tuple[str, ...] = ()
    """What was not removed, because somebody works with it."""
    shown: bool = False
    """Whether a person should be shown why it stays."""


class Rules(Struct, frozen=True, kw_only=True):
    """Which runs to remove."""

    keep: float
    """Seconds to keep a run after its end."""
    now: float
    named: bool = False
    """A person named the run, so it is removed whatever its age."""
    dry_run: bool = False


class _Kept(Exception):
    """The run is kept as it is; a person is told if they can do something about it."""

    def __init__(self, why: str, *, shown: bool = False) -> None:
        super().__init__(why)
        self.shown = shown


async def prune(folder: FolderRecord, store: Store, rules: Rules, *, newest: bool) -> Pruned:
    """Remove a run that is old enough; a younger one keeps its first, best and last files.

    The newest run of a directory keeps all of its laps, and one that is not over keeps everything.
    """
    try:
        if rules.dry_run:
            if lock.owner(folder.lock) is not None:
                raise _Kept("is being driven")
            return await _prune(folder, store, rules, newest=newest)
        with lock.hold_briefly(folder.lock, run=folder.id):
            return await _prune(folder, store, rules, newest=newest)
    except JournalLocked:
        return Pruned(run=folder.id, action="kept", why="is being driven")
    except RunGone:
        return Pruned(run=folder.id, action="kept", why="was removed by another process")
    except _Kept as reason:
        return Pruned(run=folder.id, action="kept", why=str(reason), shown=reason.shown)


async def discard(folder: FolderRecord) -> None:
    """Remove a run that could not start; one that has started, or is being driven, is kept."""
    with suppress(JournalLocked, RunGone), lock.hold_briefly(folder.lock, run=folder.id):
        if not any(isinstance(event, Attached) for event in await FileJournal(folder.journal).events()):
            await setup.remove((await state_of(folder)).plan, folder.scratch)
            shutil.rmtree(folder.path)


async def _prune(folder: FolderRecord, store: Store, rules: Rules, *, newest: bool) -> Pruned:
    try:
        state = folder.read().state
    except RunGone:
        raise
    except JournalError:
        if not rules.named:
            why = f"is damaged; remove it with `untilgreen prune {folder.id}`"
            raise _Kept(why, shown=True) from None
        return await _remove(folder, store, None, rules, "its journal is damaged")
    age = max(0.0, rules.now - state.now)
    if state.outcome is None:
        raise _Kept(f"is not over; end it with `untilgreen cancel {folder.id}`", shown=age > rules.keep)
    if rules.named or age > rules.keep:
        return await _remove(folder, store, state, rules, f"ended {_ago(age)} ago")
    if newest:
        raise _Kept("is the newest one here")
    return await _thin(folder, state, rules)


async def _thin(folder: FolderRecord, state: RunState, rules: Rules) -> Pruned:
    git = await _git_of(folder, state)
    if git is None:
        raise _Kept("is too recent")
    best, begun = state.best.snapshot if state.best else None, workplace(state.plan).tree
    trees = {state.snapshot_of(0), best, state.final_snapshot, begun}
    count = await Refs(git, folder.id).thin({tree for tree in trees if tree}, dry_run=rules.dry_run)
    if not count:
        raise _Kept("is too recent")
    said = f"dropped {count} of its snapshots" if not rules.dry_run else f"has {count} snapshots to drop"
    return Pruned(run=folder.id, action="thinned", why=f"{said}; the first, best and last files stay")


async def _remove(
    folder: FolderRecord, store: Store, state: RunState | None, rules: Rules, why: str
) -> Pruned:
    git = await _git_of(folder, state)
    worktree = Worktree(path=folder.scratch.worktree, repository=_repository(git, folder), run=folder.id)
    await _refuse_lost_work(folder, state, worktree)
    if rules.dry_run:
        return Pruned(run=folder.id, action="removed", why=why)
    await folder.scratch.clear_up(grace=0.0)
    left = [str(path) for path in folder.scratch.worktree.parent.glob(f"{folder.id}.old-*")]
    if state is None or in_worktree(state.plan):
        await worktree.remove()
        DirectoryLock(folder.scratch.worktree, run=folder.id, state_dir=store.state_dir).forget()
    if git is not None:
        left += await _forget(git, worktree, state)
    store.forget(folder)
    return Pruned(run=folder.id, action="removed", why=why, left=tuple(left))


async def _forget(git: Git, worktree: Worktree, state: RunState | None) -> list[str]:
    """Delete every ref of the run; a branch that somebody added commits to is kept."""
    await Refs(git, worktree.run).forget()
    folders = worktree.repository / "refs" / "untilgreen" / worktree.run
    for draft in folders.glob(f"*{LOCK}"):  # of a driver that was killed
        draft.unlink(missing_ok=True)
    with suppress(OSError):
        folders.rmdir()
    with suppress(OSError):
        folders.parent.rmdir()
    commits = {state.commit, workplace(state.plan).commit} if state else set()
    at = await worktree.drop_branch({commit for commit in commits if commit})
    return [f"branch {worktree.branch} at {at[:12]}"] if at else []


async def _refuse_lost_work(folder: FolderRecord, state: RunState | None, worktree: Worktree) -> None:
    """Files changed in the worktree after the run's end exist nowhere else."""
    final = (state.final_snapshot or state.tree) if state else None
    if state is None or final is None or not worktree.whole:
        return
    workspace = await workspace_of(state, folder.scratch)
    changes = await workspace.changes(final, await workspace.snapshot("before-prune"))
    if changes:
        names = ", ".join(change.path for change in changes[:MOST_NAMED])
        raise _Kept(
            f"has files in {str(folder.scratch.worktree)!r} that were changed after its end: {names}. "
            "Take what you need, remove that directory, and prune again",
            shown=True,
        )


async def _git_of(folder: FolderRecord, state: RunState | None) -> Git | None:
    """git in the repository that keeps the trees; None if there is none, or if it is gone."""
    where = (workplace(state.plan).repository if state else "") or None
    if where is None and folder.meta().git_root:
        with suppress(WorkspaceNotReady):  # the directory is gone, or no longer a repository
            repository = await find_repository(Path(folder.meta().git_root))
            where = str(repository.common) if repository else None
    if where is None or not await anyio.Path(where).is_dir():
        return None
    return Git(place=Path(where), variables={"GIT_DIR": where})


def _repository(git: Git | None, folder: FolderRecord) -> Path:
    return git.place if git is not None else folder.path / "no-repository"


def _ago(seconds: float) -> str:
    days = int(seconds // 86400)
    return several(days, "day") if days else show_duration(seconds)
