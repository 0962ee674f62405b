"""The result of a run with its own worktree, as one commit on a branch."""

from __future__ import annotations

from collections.abc import Callable

from untilgreen.core.briefing.excerpt import fit
from untilgreen.core.loop.step import Conclude
from untilgreen.core.values.state import RunState
from untilgreen.engine.store.scratch import Scratch
from untilgreen.engine.wiring.workplace import workplace
from untilgreen.engine.worktree.setup import worktree_of
from untilgreen.errors import WorkspaceNotReady
from untilgreen.workspace.git_workspace import GitWorkspace

LONGEST_TASK = 4000


async def commit_result(
    scratch: Scratch, workspace: GitWorkspace, warn: Callable[[str], None], state: RunState, end: Conclude
) -> str | None:
    """Commit the final files; if that fails, the run still ends."""
    worktree = worktree_of(state.plan, scratch)
    if worktree is None or state.tree is None:
        return None
    at = state.last.ended if state.last else state.now
    try:
        tree = await result_tree(state, workspace, state.tree)
        return await worktree.commit(tree, workplace(state.plan).commit or "", _message(state, end), at)
    except WorkspaceNotReady as error:
        warn(f"The result could not be committed, so there is no branch {worktree.branch!r}. {error}")
        return None


async def result_tree(state: RunState, workspace: GitWorkspace, snapshot: str) -> str:
    """The agent's changes on top of the starting point; what setup created is not part of it."""
    from untilgreen.workspace.three_way_merge import Merging  # noqa: PLC0415 - only the end of a run needs it

    first, where, merging = state.snapshot_of(0), workplace(state.plan), Merging(workspace)
    if first is None or not where.in_worktree:
        return snapshot
    began = where.tree or await merging.tree(where.commit or "")
    return await merging.carry(first, began, snapshot)


def _message(state: RunState, end: Conclude) -> str:
    """The commit message: task, outcome and run; unprintable characters are left out."""
    task = fit(state.plan.task, LONGEST_TASK)
    words = f"{state.plan.title}\n\n{end.outcome}: {end.reason}\n"
    if task != state.plan.title:
        words += f"\n{task}\n"
    printable = "".join(each for each in words if each.isprintable() or each == "\n")
    return f"{printable}\nUntilgreen-Run: {state.run}\n"
