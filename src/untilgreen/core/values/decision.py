"""What a strategy may answer after a lap: continue, finish, or ask a person."""

from typing import Any, TypeAlias

from msgspec import Struct, field

from untilgreen.core.values.model import Outcome

CONTINUE, ACCEPT, STOP = "continue", "accept", "stop"
"""Answers to a question about a lap."""
ROLLBACK, SWITCH = "rollback", "agent"
"""Answers to the manual strategy that name a lap, or another agent."""
REVIEW = "review"
"""The answer that pauses a run so that a person can look at it."""
ADDED = "added"
"""Metadata key of a decision for a lap that was only possible because a person added laps."""
PATIENCE = 15 * 60.0
"""Seconds that a question waits for an answer before its default is taken."""


class Continue(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="continue"):
    """Another lap."""

    reason: str
    confidence: float = 1.0
    hint: str | None = None
    """Text for the next brief."""
    remedy: str | None = None
    """The rung of the remedy ladder that this lap tries; set by the core."""
    restore: int | None = None
    """The lap whose files the next one starts from, if not the last."""
    agent: str | None = None
    """The agent for the next lap, if it changes."""
    metadata: dict[str, Any] = field(default_factory=dict)


class Finish(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="finish"):
    """The end of the run."""

    outcome: Outcome
    reason: str
    confidence: float = 1.0
    leave: int | None = None
    """The lap whose files stay in the workspace; None leaves the choice to the spec's `leave`."""
    metadata: dict[str, Any] = field(default_factory=dict)


class Ask(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="ask"):
    """A person decides; after `until` seconds, or at once if nobody can answer, the default is taken.

    With `until=None` the run waits indefinitely.
    """

    question: str
    choices: tuple[str, ...]
    default: str
    reason: str = ""
    until: float | None = PATIENCE
    confidence: float = 1.0
    metadata: dict[str, Any] = field(default_factory=dict)


Decision: TypeAlias = Continue | Finish | Ask
