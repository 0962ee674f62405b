"""Old runs go: their snapshots, worktree, branch and, last of all, their folder.

The folder is what tells of the rest, so a prune that is cut off is done again by the next one.
"""

from __future__ import annotations

import shutil
from contextlib import suppress
from pathlib import Path
from typing import Literal

import anyio
from msgspec import Struct

from untilgreen.core.events import Attached
from untilgreen.core.state import RunState
from untilgreen.core.units import several, show_duration
from untilgreen.engine import lock, worktrees
from untilgreen.engine.drive import clear_up, state_of
from untilgreen.engine.places import COMMIT, REPOSITORY, TREE, in_worktree
from untilgreen.engine.store import RunFolder, Store
from untilgreen.engine.told import told
from untilgreen.engine.trees import workspace_of
from untilgreen.errors import JournalError, JournalLocked, RunGone, WorkspaceNotReady
from untilgreen.journal.file import FileJournal
from untilgreen.workspace.claim import DirectoryClaim
from untilgreen.workspace.ground import find_ground
from untilgreen.workspace.plumbing import Git
from untilgreen.workspace.refs import Refs
from untilgreen.workspace.worktree import Worktree

MOST_NAMED = 5


class Pruned(Struct, frozen=True, kw_only=True):
    """What became of one run."""

    run: str
    action: Literal["removed", "thinned", "kept"]
    why: str = ""
    left: tuple[str, ...] = ()
    """What was not removed, because somebody works with it."""
    told: bool = False
    """Whether a person should hear why it stays."""


class Rules(Struct, frozen=True, kw_only=True):
    """Which runs go."""

    keep: float
    """Seconds since a run's end for which it stays."""
    now: float
    named: bool = False
    """A person named the run, so that it goes whatever its age."""
    dry_run: bool = False


class _Kept(Exception):
    """The run stays as it is; where a person can do something about that, they should hear of it."""

    def __init__(self, why: str, *, told: bool = False) -> None:
        super().__init__(why)
        self.told = told


async def prune(folder: RunFolder, store: Store, rules: Rules, *, newest: bool) -> Pruned:
    """Remove a run that is old enough; a younger one keeps its first, best and last files.

    The newest run of a directory keeps all of its laps, and one that is not over keeps everything.
    """
    try:
        if rules.dry_run:
            if lock.owner(folder.lock) is not None:
                raise _Kept("is being driven")
            return await _prune(folder, store, rules, newest=newest)
        with lock.borrow(folder.lock, run=folder.id):
            return await _prune(folder, store, rules, newest=newest)
    except JournalLocked:
        return Pruned(run=folder.id, action="kept", why="is being driven")
    except RunGone:
        return Pruned(run=folder.id, action="kept", why="was removed by somebody else meanwhile")
    except _Kept as reason:
        return Pruned(run=folder.id, action="kept", why=str(reason), told=reason.told)


async def discard(folder: RunFolder) -> None:
    """Forget a run that could not begin; one that has begun stays, and so does one that is just driven."""
    with suppress(JournalLocked, RunGone), lock.borrow(folder.lock, run=folder.id):
        if not any(isinstance(event, Attached) for event in await FileJournal(folder.journal).events()):
            await worktrees.remove((await state_of(folder)).plan, folder)
            shutil.rmtree(folder.path)


async def _prune(folder: RunFolder, store: Store, rules: Rules, *, newest: bool) -> Pruned:
    try:
        state, _ = told(folder)
    except RunGone:
        raise
    except JournalError:
        if not rules.named:
            why = f"is damaged; remove it with `untilgreen prune {folder.id}`"
            raise _Kept(why, told=True) from None
        return await _remove(folder, store, None, rules, "its journal is damaged")
    age = max(0.0, rules.now - state.now)
    if state.outcome is None:
        raise _Kept(f"is not over; end it with `untilgreen cancel {folder.id}`", told=age > rules.keep)
    if rules.named or age > rules.keep:
        return await _remove(folder, store, state, rules, f"ended {_ago(age)} ago")
    if newest:
        raise _Kept("is the newest one here")
    return await _thin(folder, state, rules)


async def _thin(folder: RunFolder, state: RunState, rules: Rules) -> Pruned:
    git = await _git_of(folder, state)
    if git is None:
        raise _Kept("is young")
    best, begun = state.best.snapshot if state.best else None, state.plan.workspace.get(TREE)
    trees = {state.snapshot_of(0), best, state.final_snapshot, begun}
    count = await Refs(git, folder.id).thin({tree for tree in trees if tree}, dry_run=rules.dry_run)
    if not count:
        raise _Kept("is young")
    said = f"gave up {count} of its snapshots" if not rules.dry_run else f"has {count} snapshots to give up"
    return Pruned(run=folder.id, action="thinned", why=f"{said}; the first, best and last files stay")


async def _remove(folder: RunFolder, store: Store, state: RunState | None, rules: Rules, why: str) -> Pruned:
    git = await _git_of(folder, state)
    worktree = Worktree(path=folder.worktree, repository=_repository(git, folder), run=folder.id)
    await _refuse_lost_work(folder, state, worktree)
    if rules.dry_run:
        return Pruned(run=folder.id, action="removed", why=why)
    await clear_up(folder, grace=0.0)
    left = [str(path) for path in folder.worktree.parent.glob(f"{folder.id}.old-*")]
    if state is None or in_worktree(state.plan):
        await worktree.remove()
        DirectoryClaim(folder.worktree, run=folder.id, state_dir=store.state_dir).forget()
    if git is not None:
        left += await _forget(git, worktree, state)
    store.forget(folder)
    return Pruned(run=folder.id, action="removed", why=why, left=tuple(left))


async def _forget(git: Git, worktree: Worktree, state: RunState | None) -> list[str]:
    """Every ref of the run; a branch that somebody went on with is theirs."""
    await Refs(git, worktree.run).forget()
    folders = worktree.repository / "refs" / "untilgreen" / worktree.run
    with suppress(OSError):
        folders.rmdir()
    with suppress(OSError):
        folders.parent.rmdir()
    commits = {state.commit, state.plan.workspace.get(COMMIT)} if state else set()
    at = await worktree.drop_branch({commit for commit in commits if commit})
    return [f"branch {worktree.branch} at {at[:12]}"] if at else []


async def _refuse_lost_work(folder: RunFolder, state: RunState | None, worktree: Worktree) -> None:
    """Files that somebody changed in the worktree after the end are nowhere else."""
    final = (state.final_snapshot or state.tree) if state else None
    if state is None or final is None or not worktree.whole:
        return
    workspace = await workspace_of(state, folder)
    changes = await workspace.changes(final, await workspace.snapshot("before-prune"))
    if changes:
        names = ", ".join(change.path for change in changes[:MOST_NAMED])
        raise _Kept(
            f"has files in {str(folder.worktree)!r} that were changed after its end: {names}. "
            "Take what you need, remove that directory, and prune again",
            told=True,
        )


async def _git_of(folder: RunFolder, state: RunState | None) -> Git | None:
    """git in the repository that keeps the trees; None where there is none, or none any more."""
    where = state.plan.workspace.get(REPOSITORY) if state else None
    if where is None and folder.meta().git_root:
        with suppress(WorkspaceNotReady):  # the directory is gone, or is no repository any more
            ground = await find_ground(Path(folder.meta().git_root))
            where = str(ground.common) if ground else None
    if where is None or not await anyio.Path(where).is_dir():
        return None
    return Git(place=Path(where), variables={"GIT_DIR": where})


def _repository(git: Git | None, folder: RunFolder) -> Path:
    return git.place if git is not None else folder.path / "no-repository"


def _ago(seconds: float) -> str:
    days = int(seconds // 86400)
    return several(days, "day") if days else show_duration(seconds)
