"""What can happen to a run, in the past tense; the journal is a list of these."""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec import Struct

from untilgreen.core.values.decision import Ask as AskDecision
from untilgreen.core.values.decision import Continue, Finish
from untilgreen.core.values.model import Change, Moment, Outcome, Plan, Reply, Verdict
from untilgreen.core.values.rules import Signal

SeatName = Literal["terminal", "unattended", "session", "served"]
Phase = Literal["base", "turn", "confirm", "final"]
CLOCK = "clock"
"""`Resumed.by` when a pause ends because its time is up."""


class _Event(Struct, frozen=True, kw_only=True, omit_defaults=True, tag=True):
    at: float
    """Seconds since the epoch, by the clock of the machine that recorded it."""


class RunStarted(_Event, frozen=True, kw_only=True, omit_defaults=True):
    """A run exists, with everything that is needed to drive it."""

    run: str
    plan: Plan
    version: str = ""


class Attached(_Event, frozen=True, kw_only=True, omit_defaults=True):
    """A process started to drive the run; this also closes a turn that a dead driver left open."""

    seat: SeatName = "terminal"
    session: str | None = None
    answers: bool = False
    """Whether a person can answer questions from here."""
    pid: int = 0
    host: str = ""
    version: str = ""
    place: str = ""
    """Which machine has the files and conversations, in a fleet; empty otherwise."""


class SnapshotTaken(_Event, frozen=True, kw_only=True, omit_defaults=True):
    """The workspace was saved: before a turn, after it, or to confirm that no file changed."""

    lap: int
    phase: Phase
    snapshot: str
    changes: tuple[Change, ...] = ()
    more: int = 0
    """Changed paths beyond those listed."""
    head: str = ""
    """The commit at HEAD, if it moved since the last snapshot; otherwise empty."""
    commits: tuple[str, ...] = ()
    """Commits that the agent made during the turn."""


class BriefOffered(_Event, frozen=True, kw_only=True, omit_defaults=True):
    """The agent was told what to do; the lap counts from here."""

    lap: int
    agent: str
    session: str | None = None
    """The conversation that the turn continues, if any."""
    seat: SeatName = "terminal"
    digest: str = ""
    size: int = 0
    own_turn: bool = False
    """Offered to a session in a turn that a person started, not by its stop hook."""
    moment: Moment | None = None
    """When, on the clock that process start times use."""


class LetGo(_Event, frozen=True, kw_only=True, omit_defaults=True):
    """The session was allowed to stop while background work continues its lap."""

    lap: int
    reason: str


class TurnEnded(_Event, frozen=True, kw_only=True, omit_defaults=True):
    """The agent's turn ended, successfully or not."""

    lap: int
    reply: Reply
    claim: bool = False
    unused: bool = False
    """The turn was cut off: it does not count as a lap, but still as a failure."""


class GateChecked(_Event, frozen=True, kw_only=True, omit_defaults=True):
    """One gate gave its verdict."""

    lap: int
    gate: str
    verdict: Verdict


class Decided(_Event, frozen=True, kw_only=True, omit_defaults=True):
    """The lap was judged: what the detectors saw and what follows."""

    lap: int
    decision: Continue | Finish | AskDecision
    signals: tuple[Signal, ...] = ()
    escalated: tuple[str, ...] = ()
    """Gates whose failure a person should hear about."""


class LapVoided(_Event, frozen=True, kw_only=True, omit_defaults=True):
    """The attempt was interrupted and used no lap; it starts again."""

    lap: int
    reason: str


class RemedyTried(_Event, frozen=True, kw_only=True, omit_defaults=True):
    """The next lap tries a rung of the remedy ladder."""

    lap: int
    rung: str


class Restored(_Event, frozen=True, kw_only=True, omit_defaults=True):
    """The workspace was restored to an earlier snapshot; `before` is the one that undoes this."""

    lap: int
    snapshot: str
    before: str
    kept: tuple[str, ...] = ()
    """Files that somebody else changed in between; they were left alone."""
    why: str = ""


class Paused(_Event, frozen=True, kw_only=True, omit_defaults=True):
    """No turn starts until the time `until`, or until a person resumes the run."""

    reason: str
    until: float | None = None
    cause: str | None = None
    """The error class that caused the pause; None if a person did."""


class Resumed(_Event, frozen=True, kw_only=True, omit_defaults=True):
    """The pause is over."""

    by: str = CLOCK


class AgentSwitched(_Event, frozen=True, kw_only=True, omit_defaults=True):
    """Another agent continues the same lap."""

    agent: str
    reason: str


class Halted(_Event, frozen=True, kw_only=True, omit_defaults=True):
    """The agent can't be used until somebody fixes it; the run stays open."""

    cause: str
    detail: str


class Interrupted(_Event, frozen=True, kw_only=True, omit_defaults=True):
    """The driver was told to exit; the run stays open."""

    signal: str


class Steered(_Event, frozen=True, kw_only=True, omit_defaults=True):
    """Somebody left a note for the agent."""

    id: str
    note: str
    by: str = ""


class LapsAdded(_Event, frozen=True, kw_only=True, omit_defaults=True):
    """Somebody gave the run more laps than it was started with."""

    laps: int
    by: str = ""


class StopRequested(_Event, frozen=True, kw_only=True, omit_defaults=True):
    """The run ends after the current lap."""

    reason: str
    by: str = ""


class Cancelled(_Event, frozen=True, kw_only=True, omit_defaults=True):
    """The run ends now."""

    reason: str
    by: str = ""


BY_DEFAULT = "default"
"""`Answered.by` when nobody answered in time."""


class Answered(_Event, frozen=True, kw_only=True, omit_defaults=True):
    """A question got its answer, from a person or by default."""

    choice: str
    argument: str | None = None
    note: str = ""
    by: str = ""


class Allowed(_Event, frozen=True, kw_only=True, omit_defaults=True):
    """A person accepted that the agent changed a protected path."""

    path: str
    by: str = ""


class Approved(_Event, frozen=True, kw_only=True, omit_defaults=True):
    """A named person approved or rejected the content of the workspace."""

    gate: str
    snapshot: str
    by: str
    yes: bool
    note: str = ""


class RunFinished(_Event, frozen=True, kw_only=True, omit_defaults=True):
    """The run is over."""

    outcome: Outcome
    reason: str
    best: int | None = None
    best_snapshot: str | None = None
    final_snapshot: str | None = None
    commit: str | None = None
    """The result as a commit, if the run had its own worktree."""


Event: TypeAlias = (
    RunStarted
    | Attached
    | SnapshotTaken
    | BriefOffered
    | LetGo
    | TurnEnded
    | GateChecked
    | Decided
    | LapVoided
    | RemedyTried
    | Restored
    | Paused
    | Resumed
    | AgentSwitched
    | Halted
    | Interrupted
    | Steered
    | LapsAdded
    | StopRequested
    | Cancelled
    | Answered
    | Allowed
    | Approved
    | RunFinished
)
