"""The snapshots of a run, to inspect and restore by hand."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Protocol

from untilgreen.core.values.state import Lap, Open, RunState
from untilgreen.engine.store.scratch import Scratch
from untilgreen.engine.wiring.redaction import secrets_of
from untilgreen.engine.wiring.workplace import start_of, workplace
from untilgreen.engine.worktree.setup import root_of, top_of, worktree_of
from untilgreen.errors import UserError
from untilgreen.ports import Restoration
from untilgreen.workspace.directory_lock import DirectoryLock
from untilgreen.workspace.factory import open_workspace
from untilgreen.workspace.git_workspace import GitWorkspace


class Snapshots(Protocol):
    """Where the snapshots of a run are: its workspace, or a copy of its remote."""

    async def diff(self, before: str, after: str) -> str:
        """The difference as a unified diff."""


Opened = Callable[[], Awaitable[Snapshots]]


async def workspace_of(state: RunState, scratch: Scratch) -> GitWorkspace:
    """The workspace of a run, as its driver sees it; if its worktree is gone, only the trees are left."""
    start, private = root_of(state.plan, scratch), scratch.private
    if worktree_of(state.plan, scratch) is not None and not start.is_dir():
        start, private = start_of(state.plan), scratch.origin
    workspace = await open_workspace(start, run=scratch.run, private_dir=private)
    workspace.max_file = workplace(state.plan).max_file
    return workspace


async def restore_tree(state: RunState, scratch: Scratch, snapshot: str) -> Restoration:
    """Bring a snapshot back by hand: refused while a run works in the directory."""
    if not root_of(state.plan, scratch).is_dir():
        fleet = " --fleet" if workplace(state.plan).remote else ""
        where = "works in a directory of a worker" if fleet else "no longer has a directory"
        raise UserError(
            f"Run {scratch.run} {where}. "
            f"Bring its files into yours with `untilgreen apply {scratch.run}{fleet}`."
        )
    with DirectoryLock(await top_of(state.plan, scratch), run=scratch.run, state_dir=scratch.state_dir):
        workspace = await workspace_of(state, scratch)
        return await workspace.restore(snapshot, None)


async def kept_tree(state: RunState, scratch: Scratch, beginning: str) -> str:
    """The run's snapshot whose id has that prefix."""
    kept = await (await workspace_of(state, scratch)).kept()
    fitting = [tree for tree in kept if tree.startswith(beginning.lower())]
    if len(fitting) == 1 and beginning:
        return fitting[0]
    if not fitting or not beginning:
        raise UserError(
            f"Run {scratch.run} has no snapshot {beginning!r}. Name a lap instead, like {scratch.run}@1."
        )
    raise UserError(f"{beginning!r} matches {len(fitting)} snapshots: {', '.join(fitting)}. Type more of it.")


async def lap_diff(state: RunState, scratch: Scratch, lap: Lap | Open) -> str:
    """What the agent changed in a lap, as a unified diff without secrets; empty if it changed nothing."""
    return await lap_diff_in(partial(workspace_of, state, scratch), state, lap)


async def lap_diff_in(opened: Opened, state: RunState, lap: Lap | Open) -> str:
    """The same, wherever the snapshots are; they are opened only if the lap changed something."""
    if lap.base is None or lap.snapshot is None or lap.base == lap.snapshot:
        return ""
    return secrets_of(state.plan).redact(await (await opened()).diff(lap.base, lap.snapshot))
