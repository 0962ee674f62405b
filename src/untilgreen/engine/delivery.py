"""What a run with a worktree of its own hands over: its result as one commit on a branch."""

from __future__ import annotations

from collections.abc import Callable

from untilgreen.core.excerpt import fit
from untilgreen.core.state import RunState
from untilgreen.core.step import Conclude
from untilgreen.engine.places import COMMIT, TREE, in_worktree
from untilgreen.engine.store import RunFolder
from untilgreen.engine.worktrees import worktree_of
from untilgreen.errors import WorkspaceNotReady
from untilgreen.workspace.git import GitWorkspace
from untilgreen.workspace.merging import Merging

LONGEST_TASK = 4000


async def commit_result(
    folder: RunFolder, workspace: GitWorkspace, warn: Callable[[str], None], state: RunState, end: Conclude
) -> str | None:
    """Commit the files that the run ends with; a repository that can't take them is no failure of the run."""
    worktree = worktree_of(state.plan, folder)
    if worktree is None or state.tree is None:
        return None
    at = state.last.ended if state.last else state.now
    try:
        tree = await result_tree(state, workspace, state.tree)
        return await worktree.commit(tree, state.plan.workspace[COMMIT], _message(state, end), at)
    except WorkspaceNotReady as error:
        warn(f"The result could not be committed, so there is no branch {worktree.branch!r}. {error}")
        return None


async def result_tree(state: RunState, workspace: GitWorkspace, snapshot: str) -> str:
    """What the agent made of what the run began with; what setup left behind is nobody's change."""
    first, where, merging = state.snapshot_of(0), state.plan.workspace, Merging(workspace)
    if first is None or not in_worktree(state.plan):
        return snapshot
    began = where.get(TREE) or await merging.tree(where[COMMIT])
    return await merging.carry(first, str(began), snapshot)


def _message(state: RunState, end: Conclude) -> str:
    """The task, how it ended, and whose it is; what is no text is left out."""
    task = fit(state.plan.task, LONGEST_TASK)
    words = f"{state.plan.title}\n\n{end.outcome}: {end.reason}\n"
    if task != state.plan.title:
        words += f"\n{task}\n"
    printable = "".join(each for each in words if each.isprintable() or each == "\n")
    return f"{printable}\nUntilgreen-Run: {state.run}\n"
