"""Where a run works and what it started from: the plan's workspace table, as a value."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from untilgreen.core.values.model import IN_PLACE, WORKTREE, Plan
from untilgreen.core.values.state import RunState


class Workplace(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The workspace table of a plan: what the spec asks for, and what was found at the start."""

    mode: str = IN_PLACE
    start: str = ""
    """Where the run was started, so where agents and gates run."""
    base: str = ""
    """The directory that paths in the spec are relative to."""
    setup: tuple[str, ...] = ()
    """Commands that prepare a worktree for its gates."""
    copy: tuple[str, ...] = ()
    """Ignored files that a worktree needs."""
    max_file: int = 0
    """Bytes above which a new file is left out of snapshots; 0 leaves none out."""
    repository: str = ""
    """The git directory that keeps the snapshots, shared by all worktrees; empty without git."""
    remote: str = ""
    """The git remote of a run in a fleet; then nothing here is a path on one machine."""
    below: str = ""
    """The start, relative to the top of its work tree."""
    commit: str | None = None
    """The commit of HEAD at the start; None before the first commit."""
    tree: str = ""
    """The snapshot that a forked run starts with."""
    forked: str = ""
    """The run and lap that it was forked from."""
    dirty: tuple[str, ...] = ()
    """Paths that had uncommitted changes at the start."""
    dirty_more: int = 0
    """How many more there were."""

    @property
    def in_worktree(self) -> bool:
        """Whether the run has its own directory."""
        return self.mode == WORKTREE


def workplace(plan: Plan) -> Workplace:
    """Where the run of a plan works."""
    return msgspec.convert(plan.workspace, Workplace)


def with_facts(plan: Plan, facts: dict[str, Any]) -> Plan:
    """The plan with more facts about its workplace; existing ones stay."""
    return replace(plan, workspace={**facts, **plan.workspace})


def start_of(plan: Plan) -> Path:
    """The directory that the run was started in."""
    return Path(workplace(plan).start)


def base_of(plan: Plan) -> Path:
    """The directory that paths in the spec are relative to."""
    return Path(workplace(plan).base)


def in_worktree(plan: Plan) -> bool:
    """Whether the run has its own directory."""
    return plan.workspace.get("mode") == WORKTREE


def branch_of(state: RunState) -> str | None:
    """The branch that the result was committed on."""
    return f"untilgreen/{state.run}" if state.commit else None
