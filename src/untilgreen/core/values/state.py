"""What is known about a run: the fold of its journal; never saved, never changed in place."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from msgspec import Struct, field

from untilgreen.core.values.decision import Ask, Continue, Finish
from untilgreen.core.values.events import Answered, Approved, Halted, Paused, SeatName, StopRequested
from untilgreen.core.values.model import Change, Moment, Outcome, Plan, Reply, Spent, Usage, Verdict
from untilgreen.core.values.rules import Signal

FAILURES = frozenset({"crash", "timeout", "stalled", "interrupted", "permission"})
"""Errors that count toward `errors`; questions and waits don't."""
WAITS = {"rate_limited": "rate-limited", "quota": "out of quota", "network": "no network"}
"""Errors after which the same lap continues later, in plain words."""
HALTS = frozenset({"auth"})
"""Errors that only a person can fix."""


class Lap(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One lap that is over, measured against the laps before it."""

    number: int
    agent: str = ""
    started: float = 0.0
    ended: float = 0.0
    duration: float = 0.0
    """Seconds from the brief to the decision, not counting waits and times without a driver."""
    reply: Reply = Reply()
    claim: bool = False
    base: str | None = None
    outside: tuple[str, str] | None = None
    """Snapshots on either side of the gap before this turn: what changed there was not the agent's work."""
    snapshot: str | None = None
    changes: tuple[Change, ...] = ()
    verdicts: Mapping[str, Verdict] = field(default_factory=dict)
    """Read-only in the laps of a state, because strategies and detectors see them."""
    failing: frozenset[str] = frozenset()
    """Ids of the findings of required gates."""
    count: int = 0
    """How many findings required gates have."""
    failures: int = 0
    """The same, or tests that did not pass if those are more: a crash is one finding, but few tests pass."""
    score: float = 0.0
    """Relative to all tests that the gates ever showed in the run, so that laps are comparable."""
    passed: int = 0
    green: bool = False
    awaiting_claim: bool = False
    """Everything is green, but the agent has not given the promise."""
    gain: float = 0.0
    """Score above the best of all earlier laps."""
    fewer: bool = False
    """Fewer failures than in any earlier lap."""
    improved: bool = False
    """A new best score, or fewer failures."""
    since_best: int = 0
    """Laps since the last improvement."""
    rejected: int = 0
    """False claims since the last improvement."""
    remedy: str | None = None
    tokens: int | None = None
    """None if they are unknown; so is the cost."""
    cost: float | None = None
    signals: tuple[Signal, ...] = ()
    decision: Continue | Finish | Ask | None = None
    escalated: tuple[str, ...] = ()
    """Gates whose failure needs a person."""

    @property
    def unanswered(self) -> tuple[str, ...]:
        """Gates that asked for a person while nobody could answer."""
        return () if isinstance(self.decision, Ask) else self.escalated

    @property
    def rank(self) -> tuple[int, float, int]:
        """More gates passed, then a higher score, then fewer failures."""
        return self.passed, self.score, -self.failures

    @property
    def moved(self) -> bool:
        """Whether the turn changed any file."""
        return self.snapshot != self.base

    @property
    def failed(self) -> bool:
        """Whether the agent itself failed, so the lap says little about the work."""
        return self.reply.error in FAILURES

    @property
    def evidence(self) -> bool:
        """Whether the lap can count as evidence of going in circles."""
        return not self.failed and not self.awaiting_claim


class Open(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The current lap."""

    number: int
    started: float = 0.0
    elapsed: float = 0.0
    """The run's `elapsed` when this lap started."""
    attempt: int = 1
    agent: str = ""
    seat: SeatName = "terminal"
    base: str | None = None
    outside: tuple[str, str] | None = None
    offered: bool = False
    own_turn: bool = False
    """The session works on it in a turn that a person started."""
    moment: Moment | None = None
    """When the brief was offered."""
    reply: Reply | None = None
    claim: bool = False
    usage: Usage = Usage()
    cost: float | None = None
    interrupted: bool = False
    rewound: bool = False
    snapshot: str | None = None
    changes: tuple[Change, ...] = ()
    verdicts: dict[str, Verdict] = field(default_factory=dict)
    rechecked: bool = False
    """The gates ran a second time because files changed while they ran."""
    confirmed: bool = False
    """The files stayed as they were while the gates ran."""
    hint: str | None = None
    remedy: str | None = None
    fresh: bool = False
    """Starts a new conversation, even if the spec continues the old one."""
    notes_from: int = 0

    @property
    def in_session(self) -> bool:
        """Whether a session is working on it, as far as we know."""
        return self.offered and self.seat == "session" and self.reply is None


class Note(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a person wants the agent to know."""

    id: str
    text: str
    by: str = ""


class ToolRecord(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one tool of a gate has shown over all laps."""

    most: int = 0
    """The most tests it ever counted; 0 for a linter."""
    most_failed: int = 0
    """The most failures it ever counted."""
    seen_passing: bool = False
    """Whether it also prints when it finds nothing."""
    beside: tuple[str, ...] = ()
    """Tools of the same command that printed in a lap in which this one failed: they run before it."""


class Best(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The lap whose files are worth keeping, and what it reached."""

    lap: int
    snapshot: str | None
    passed: int
    score: float
    failures: int

    @property
    def rank(self) -> tuple[int, float, int]:
        """More gates passed, then a higher score, then fewer failures."""
        return self.passed, self.score, -self.failures


class RunState(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The state of a run, folded from its journal."""

    run: str
    plan: Plan
    now: float
    started: float = 0.0
    elapsed: float = 0.0
    """Seconds in which the run was driven, without waits for a limit or a person."""
    waited: float = 0.0
    waits: int = 0
    errors: int = 0
    takeovers: int = 0
    """Drivers in a row that died elsewhere during a turn: not the agent's fault."""
    last_error: str = ""
    spent: Spent = Spent()
    laps: tuple[Lap, ...] = ()
    baseline: Lap | None = None
    open: Open | None = None
    best: Best | None = None
    top_score: float | None = None
    tools: dict[str, dict[str, ToolRecord]] = field(default_factory=dict)
    """By gate, what each tool in its output showed over all laps; scores are relative to this."""
    stated: dict[str, dict[str, int]] = field(default_factory=dict)
    """For gates without findings, the most that their output counted ("7 errors left"), by its words."""
    reach: int = 0
    """The most required gates that gave a verdict in one lap; `fewest` is over such laps only."""
    fewest: int | None = None
    tree: str | None = None
    """The newest snapshot that was taken or restored."""
    head: str = ""
    """The commit at HEAD when it was last checked."""
    commits: tuple[str, ...] = ()
    """Commits that agents made during their turns."""
    seat: SeatName = "terminal"
    place: str = ""
    """The machine that last drove it, in a fleet; empty otherwise."""
    session: str | None = None
    answers: bool = False
    agent: str = ""
    sessions: dict[str, str] = field(default_factory=dict)
    counted: dict[str, Usage] = field(default_factory=dict)
    """What those sessions have used in total, for agents that report totals."""
    added: int = 0
    """Laps that a person added, minus those that already overruled a strategy's end."""
    notes: tuple[Note, ...] = ()
    notes_told: int = 0
    tried: tuple[str, ...] = ()
    """Rungs of the remedy ladder tried since the last improvement."""
    red_laps: dict[str, int] = field(default_factory=dict)
    asked: Ask | None = None
    questions: int = 0
    """How many were asked so far."""
    asked_at: float = 0.0
    answer: Answered | None = None
    allowed: tuple[str, ...] = ()
    """Protected paths that a person lets the agent change."""
    approvals: tuple[Approved, ...] = ()
    remembered: dict[str, tuple[str, Verdict]] = field(default_factory=dict)
    """The last verdict of gates whose verdicts are reused, with the snapshot it judged."""
    remedy_due: str | None = None
    restore_due: int | None = None
    pause: Paused | None = None
    halted: Halted | None = None
    away: str | None = None
    stop: StopRequested | None = None
    ending: Finish | None = None
    left: bool = False
    """The final files were put in place."""
    outcome: Outcome | None = None
    reason: str = ""
    final_snapshot: str | None = None
    commit: str | None = None
    """The result as a commit, if the run had its own worktree."""

    @property
    def open_question(self) -> Ask | None:
        """The question that nobody has answered yet."""
        return self.asked if self.answer is None else None

    @property
    def baseline_and_laps(self) -> tuple[Lap, ...]:
        """The baseline, if there was one, and every finished lap."""
        return (self.baseline, *self.laps) if self.baseline else self.laps

    @property
    def last(self) -> Lap | None:
        """The newest finished lap, or the baseline before there is one."""
        return self.laps[-1] if self.laps else self.baseline

    @property
    def before_last(self) -> Lap | None:
        """The lap before the newest one, or the baseline."""
        return self.laps[-2] if len(self.laps) > 1 else self.baseline if self.laps else None

    def numbered(self, laps: Collection[int]) -> list[Lap]:
        """The finished laps with these numbers."""
        return [self.laps[number - 1] for number in sorted(laps) if 0 < number <= len(self.laps)]

    def snapshot_of(self, lap: int) -> str | None:
        """The snapshot that a lap left behind; lap 0 stands for the untouched files."""
        if lap == 0:
            first = self.baseline or (self.laps[0] if self.laps else None)
            return None if first is None else (first.snapshot if first.number == 0 else first.base)
        return self.laps[lap - 1].snapshot if lap <= len(self.laps) else None
