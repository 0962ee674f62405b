"""What a plan's workspace table says about where a run works and what it began with."""

from __future__ import annotations

from untilgreen.core.model import WORKTREE, Plan
from untilgreen.core.state import RunState

REPOSITORY = "repository"
"""The git directory that keeps the trees, shared by all worktrees; absent without git."""
BELOW = "below"
"""Where the run was started, seen from the highest directory of its work tree."""
COMMIT = "commit"
"""What HEAD stood for at the start."""
TREE, FORKED = "tree", "forked"
"""The snapshot that a forked run begins with, and the run and lap that it is of."""
DIRTY, MORE = "dirty", "dirty_more"
"""Paths that had uncommitted changes at the start, and how many more there were."""


def in_worktree(plan: Plan) -> bool:
    """Whether the run has a directory of its own."""
    return plan.workspace.get("mode") == WORKTREE


def branch_of(state: RunState) -> str | None:
    """The branch that the result was committed on."""
    return f"untilgreen/{state.run}" if state.commit else None
