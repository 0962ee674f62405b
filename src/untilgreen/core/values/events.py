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
"""Who ends a pause that has its time."""


class _Event(Struct, frozen=True, kw_only=True, omit_defaults=True, tag=True):
    at: float
    """Seconds since the epoch, by the clock of the machine that recorded it."""


class RunStarted(_Event, frozen=True, kw_only=True, omit_defaults=True):
    """A run exists, with everything that is needed to drive it."""

    run: str
    plan: Plan
    version: str = ""


class Attached(_Event, frozen=True, kw_only=True, omit_defaults=True):
    """A process began to drive; this also closes a turn that a dead driver left open."""

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
    """The workspace's content was kept: before a turn, after it, or to confirm that nothing moved."""

    lap: int
    phase: Phase
    snapshot: str
    changes: tuple[Change, ...] = ()
    more: int = 0
    """Changed paths beyond those listed."""
    head: str = ""
    """The commit at HEAD, where it was not yet known."""
    commits: tuple[str, ...] = ()
    """What was committed during the turn, by the agent itself."""


class BriefOffered(_Event, frozen=True, kw_only=True, omit_defaults=True):
    """The agent was told what to do; the lap counts from here."""

    lap: int
    agent: str
    session: str | None = None
    """The conversation that is continued, where one is."""
    seat: SeatName = "terminal"
    digest: str = ""
    size: int = 0
    own_turn: bool = False
    """Offered to a session within a turn that a person began, not by its stop hook."""
    moment: Moment | None = None
    """When, on the clock that process start times use."""


class LetGo(_Event, frozen=True, kw_only=True, omit_defaults=True):
    """The session may stop although its lap continues, with work in the background."""

    lap: int
    reason: str


class TurnEnded(_Event, frozen=True, kw_only=True, omit_defaults=True):
    """The agent's turn is over, well or not."""

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
    """A rung of the remedy ladder was taken for the coming lap."""

    lap: int
    rung: str


class Restored(_Event, frozen=True, kw_only=True, omit_defaults=True):
    """The workspace went back to an earlier snapshot; `before` is the way back."""

    lap: int
    snapshot: str
    before: str
    kept: tuple[str, ...] = ()
    """Files that somebody else changed in between; they were left alone."""
    why: str = ""


class Paused(_Event, frozen=True, kw_only=True, omit_defaults=True):
    """No turn starts before `until`, or before a person says so."""

    reason: str
    until: float | None = None
    cause: str | None = None
    """The error class that made the same lap wait, where it was not a person."""


class Resumed(_Event, frozen=True, kw_only=True, omit_defaults=True):
    """The pause is over."""

    by: str = CLOCK


class AgentSwitched(_Event, frozen=True, kw_only=True, omit_defaults=True):
    """Another agent continues with the same lap."""

    agent: str
    reason: str


class Halted(_Event, frozen=True, kw_only=True, omit_defaults=True):
    """The agent can't be used until somebody fixes it; the run stays open."""

    cause: str
    detail: str


class Interrupted(_Event, frozen=True, kw_only=True, omit_defaults=True):
    """The driver was told to leave; the run stays open."""

    signal: str


class Steered(_Event, frozen=True, kw_only=True, omit_defaults=True):
    """Somebody left a note for the agent."""

    id: str
    note: str
    by: str = ""


class LapsAdded(_Event, frozen=True, kw_only=True, omit_defaults=True):
    """Somebody lets the run have more laps than it was started with."""

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
"""Who answered a question that nobody answered in time."""


class Answered(_Event, frozen=True, kw_only=True, omit_defaults=True):
    """A question got its answer, from a person or by default."""

    choice: str
    argument: str | None = None
    note: str = ""
    by: str = ""


class Allowed(_Event, frozen=True, kw_only=True, omit_defaults=True):
    """A person accepts that the agent changed a protected path."""

    path: str
    by: str = ""


class Approved(_Event, frozen=True, kw_only=True, omit_defaults=True):
    """A named person approved or rejected what the workspace holds."""

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
    """The result as a commit, where the run had its own worktree."""


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
