"""What a runner depends on, put together by driving or by a test."""

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
        """The file that notes the processes of a turn, or of gates."""

    def keep_brief(self, lap: int, attempt: int, text: str) -> None:
        """Save the brief that the agent got."""

    def report(self, lap: int, attempt: int, activity: Activity) -> None:
        """Pass on what the agent shows while it works."""

    def pointer(self, path: Path | None) -> str | None:
        """A path as an event names it, relative to the run."""


class NoFiles:
    """Keeps nothing, for runs that live in memory."""

    def transcript(self, lap: int, attempt: int) -> Path | None:
        """No file."""
        return None

    def output(self, lap: int, gate: str) -> Path | None:
        """No file."""
        return None

    def tree(self, what: str) -> Path | None:
        """No file."""
        return None

    def keep_brief(self, lap: int, attempt: int, text: str) -> None:
        """Drop it."""

    def report(self, lap: int, attempt: int, activity: Activity) -> None:
        """Drop it."""

    def pointer(self, path: Path | None) -> str | None:
        """No path."""
        return None


async def _nothing_to_deliver(state: RunState, end: Conclude) -> str | None:
    """Deliver nothing: the files are where they belong."""
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
    """Composes the brief."""
    agent_env: Mapping[str, str] = field(default_factory=dict)
    turn_env: Callable[[RunState], Mapping[str, str]] = _nothing_to_hand_over
    """More environment variables for the next turn."""
    gate_env: Mapping[str, str] = field(default_factory=dict)
    originals: Mapping[str, Path] = field(default_factory=dict)
    """Reference files of gates, as they were when the run began."""
    enclosure: Enclosure = OPEN
    """The sandbox around agents and gates."""
    secrets: Secrets = field(default_factory=lambda: Secrets(os.environ))
    """What is redacted in every event before it is written."""
    history: History | None = None
    place: str = ""
    """The machine that has the files and conversations, in a fleet; empty otherwise."""
    deliver: Callable[[RunState, Conclude], Awaitable[str | None]] = _nothing_to_deliver
    """Commits the result before the run ends, if it has its own worktree."""
    deadline: float | None = None
    """When gates have to be done, by the event loop's clock, if somebody waits for an answer."""

    def seconds_left(self, seconds: float | None) -> float | None:
        """How long a gate may take: its own limit, or what is left of the deadline."""
        if self.deadline is None:
            return seconds
        left = max(0.0, self.deadline - anyio.current_time())
        return left if seconds is None else min(seconds, left)

    def late(self) -> bool:
        """Whether the deadline has passed."""
        return self.seconds_left(1.0) == 0.0
