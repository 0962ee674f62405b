"""Everything a runner works with, assembled by wiring or by a test."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Protocol

import anyio
from msgspec import Struct, field

from untilgreen.core.briefing.brief import Brief, compose
from untilgreen.core.loop.decide import Policy
from untilgreen.core.loop.step import Conclude
from untilgreen.core.values.secrets import Secrets
from untilgreen.core.values.state import RunState
from untilgreen.engine.wiring.sandbox import OPEN, Enclosure
from untilgreen.ports import Activity, Agent, Clock, Gate, History, Workspace


class Files(Protocol):
    """Where a run keeps what is too long for its journal."""

    def transcript(self, lap: int, attempt: int) -> Path | None:
        """The agent's raw stream."""

    def output(self, lap: int, gate: str) -> Path | None:
        """Everything that a gate printed."""

    def tree(self, what: str) -> Path | None:
        """The notes about the processes of a turn, or of gates."""

    def keep_brief(self, lap: int, attempt: int, text: str) -> None:
        """What the agent was told."""

    def report(self, lap: int, attempt: int, activity: Activity) -> None:
        """What the agent shows while it works."""

    def pointer(self, path: Path | None) -> str | None:
        """A path as an event names it, relative to the run."""


class NoFiles:
    """Keeps nothing, for runs that live in memory."""

    def transcript(self, lap: int, attempt: int) -> Path | None:
        """Nowhere."""
        return None

    def output(self, lap: int, gate: str) -> Path | None:
        """Nowhere."""
        return None

    def tree(self, what: str) -> Path | None:
        """Nowhere."""
        return None

    def keep_brief(self, lap: int, attempt: int, text: str) -> None:
        """Forget it."""

    def report(self, lap: int, attempt: int, activity: Activity) -> None:
        """Forget it."""

    def pointer(self, path: Path | None) -> str | None:
        """Nothing to point at."""
        return None


async def _nothing_to_deliver(state: RunState, end: Conclude) -> str | None:
    """The files are where they belong."""
    return None


def _nothing_to_hand_over(state: RunState) -> Mapping[str, str]:
    """Every turn has the same environment."""
    return {}


class Parts(Struct, frozen=True, kw_only=True):
    """The agents and gates by name, the workspace, the judge, the clock."""

    agents: Mapping[str, Agent]
    gates: Mapping[str, Gate]
    workspace: Workspace
    policy: Policy
    clock: Clock
    files: Files = field(default_factory=NoFiles)
    compose: Callable[[RunState], Brief] = compose
    """What the agent is told."""
    agent_env: Mapping[str, str] = field(default_factory=dict)
    turn_env: Callable[[RunState], Mapping[str, str]] = _nothing_to_hand_over
    """More environment variables for the next turn."""
    gate_env: Mapping[str, str] = field(default_factory=dict)
    originals: Mapping[str, Path] = field(default_factory=dict)
    """Files that gates measure by, as they were when the run began."""
    enclosure: Enclosure = OPEN
    """The sandbox around agents and gates."""
    secrets: Secrets = field(default_factory=lambda: Secrets(os.environ))
    """What is cut out of every event before it is written."""
    history: History | None = None
    place: str = ""
    """Which machine has the files and conversations, if that can change."""
    deliver: Callable[[RunState, Conclude], Awaitable[str | None]] = _nothing_to_deliver
    """Makes a commit of the result before the run ends, if it has its own worktree."""
    deadline: float | None = None
    """When gates have to be done, by the event loop's clock, if somebody waits for an answer."""

    def left(self, seconds: float | None) -> float | None:
        """How long a gate may take: its own limit, or what is left of the deadline."""
        if self.deadline is None:
            return seconds
        left = max(0.0, self.deadline - anyio.current_time())
        return left if seconds is None else min(seconds, left)

    def late(self) -> bool:
        """Whether the deadline has passed."""
        return self.left(1.0) == 0.0
