"""Where a run works while it is driven, and what provides that place."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from msgspec import Struct

from untilgreen.core.loop.step import Conclude
from untilgreen.core.values.state import RunState
from untilgreen.engine.store.scratch import Scratch
from untilgreen.engine.wiring.sandbox import OPEN, Enclosure
from untilgreen.ports import History, Hold, Workspace
from untilgreen.workspace.git_workspace import GitWorkspace


async def stays_here(lap: int, attempt: int) -> None:
    """Push nothing: the files stay where the next driver finds them."""


class Place(Struct, frozen=True, kw_only=True):
    """Where a run works on this machine while it is driven."""

    workspace: Workspace
    scratch: Scratch
    """Files for driving the run, of no use on another machine."""
    snapshots: GitWorkspace | None = None
    """The same workspace, if it keeps git trees, which integrity needs."""
    history: History | None = None
    name: str = ""
    """Identifies the machine in a fleet; empty otherwise."""
    enclosure: Enclosure = OPEN
    """The sandbox around agents and gates there."""
    deliver: Callable[[RunState, Conclude], Awaitable[str | None]] | None = None
    """Commits the result, if the run has its own directory."""
    leave: Callable[[int, int], Awaitable[None]] = stays_here
    """Pushes the work of a lap so far to where the next driver finds it, on any machine."""


class Premises(Protocol):
    """Prepares a place for each drive: in place, in a worktree here, or in a worktree of a clone."""

    def enter(self, state: RunState, hold: Hold) -> AbstractAsyncContextManager[Place]:
        """The place, for this run alone while the block lasts."""
