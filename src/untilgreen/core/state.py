"""What is known about a run: the fold of its journal, never saved and never changed in place."""

from __future__ import annotations

from msgspec import Struct, field

from untilgreen.core.decision import Ask, Continue, Finish
from untilgreen.core.events import Answered, Approved, Halted, Paused, SeatName, StopRequested
from untilgreen.core.model import Change, Moment, Outcome, Plan, Reply, Spent, Usage, Verdict
from untilgreen.core.rules import Signal

FAILURES = frozenset({"crash", "timeout", "stalled", "interrupted", "permission"})
"""Errors that count towards `errors`; a question is an answer of a kind, waiting is not a turn."""
WAITS = frozenset({"rate_limited", "network", "quota"})
"""Errors after which the same lap goes on later."""
HALTS = frozenset({"auth"})
"""Errors that only a person can mend."""


class Iteration(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One lap that is over, measured against the laps before it."""

    number: int
    agent: str = ""
    started: float = 0.0
    ended: float = 0.0
    reply: Reply = Reply()
    claim: bool = False
    base: str | None = None
    outside: tuple[str, str] | None = None
    """The trees between which nobody's turn was: the one before the lap, and the one that it began with."""
    snapshot: str | None = None
    changes: tuple[Change, ...] = ()
    verdicts: dict[str, Verdict] = field(default_factory=dict)
    failing: frozenset[str] = frozenset()
    """Ids of what required gates complain about."""
    count: int = 0
    score: float = 0.0
    passed: int = 0
    green: bool = False
    awaiting_claim: bool = False
    """Everything is green but the promise was not given."""
    gain: float = 0.0
    """Score above the best of all earlier laps."""
    fewer: bool = False
    """Fewer complaints than in any earlier lap."""
    improved: bool = False
    """A new best score, or fewer complaints."""
    since_best: int = 0
    """Laps since the last that improved."""
    rejected: int = 0
    """False claims since then."""
    remedy: str | None = None
    tokens: int = 0
    cost: float = 0.0
    signals: tuple[Signal, ...] = ()
    decision: Continue | Finish | Ask | None = None

    @property
    def duration(self) -> float:
        """Seconds from the brief to the decision."""
        return self.ended - self.started

    @property
    def moved(self) -> bool:
        """Whether the turn changed any file."""
        return self.snapshot != self.base

    @property
    def failed(self) -> bool:
        """Whether the agent itself failed, so that the lap says little about the work."""
        return self.reply.error in FAILURES

    @property
    def evidence(self) -> bool:
        """Whether the lap can show that a run goes in circles."""
        return not self.failed and not self.awaiting_claim


class Open(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The lap under way."""

    number: int
    started: float = 0.0
    attempt: int = 1
    agent: str = ""
    seat: SeatName = "terminal"
    base: str | None = None
    outside: tuple[str, str] | None = None
    offered: bool = False
    own_turn: bool = False
    """The session works on it in a turn that no stop hook keeps going."""
    moment: Moment | None = None
    """When the brief was offered."""
    reply: Reply | None = None
    claim: bool = False
    usage: Usage = Usage()
    cost: float = 0.0
    interrupted: bool = False
    rewound: bool = False
    snapshot: str | None = None
    changes: tuple[Change, ...] = ()
    verdicts: dict[str, Verdict] = field(default_factory=dict)
    rechecked: bool = False
    """The gates ran a second time because files had moved under them."""
    confirmed: bool = False
    """The files stayed as they were while the gates ran."""
    hint: str | None = None
    remedy: str | None = None
    fresh: bool = False
    """Starts a new conversation whatever the spec says."""
    notes_from: int = 0

    @property
    def in_session(self) -> bool:
        """Whether a session works on it at this moment, as far as anybody knows."""
        return self.offered and self.seat == "session" and self.reply is None


class Note(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a person wants the agent to know."""

    id: str
    text: str
    by: str = ""


class Best(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The lap whose tree is worth keeping, and what it reached."""

    lap: int
    snapshot: str | None
    passed: int
    score: float
    count: int

    @property
    def rank(self) -> tuple[int, float, int]:
        """More gates passed, then a higher score, then fewer complaints."""
        return self.passed, self.score, -self.count


class RunState(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A run as far as its journal tells."""

    run: str
    plan: Plan
    now: float
    elapsed: float = 0.0
    """Seconds in which somebody drove, without waiting for a limit or a person."""
    waited: float = 0.0
    waits: int = 0
    errors: int = 0
    last_error: str = ""
    spent: Spent = Spent()
    iterations: tuple[Iteration, ...] = ()
    baseline: Iteration | None = None
    open: Open | None = None
    best: Best | None = None
    top_score: float | None = None
    reach: int = 0
    """How many required gates gave a verdict in the lap with the fewest complaints."""
    fewest: int | None = None
    tree: str | None = None
    """The newest snapshot that was taken or restored."""
    head: str = ""
    """The commit that HEAD stood for when the files were last looked at."""
    commits: tuple[str, ...] = ()
    """What agents committed themselves, during their turns."""
    seat: SeatName = "terminal"
    session: str | None = None
    answers: bool = False
    agent: str = ""
    sessions: dict[str, str] = field(default_factory=dict)
    counted: dict[str, Usage] = field(default_factory=dict)
    """What those sessions have used in all, for agents that count so."""
    notes: tuple[Note, ...] = ()
    notes_told: int = 0
    tried: tuple[str, ...] = ()
    """Rungs of the remedy ladder in the present streak."""
    remedy_laps: int = 0
    red_laps: dict[str, int] = field(default_factory=dict)
    asked: Ask | None = None
    asked_at: float = 0.0
    answer: Answered | None = None
    allowed: tuple[str, ...] = ()
    """Protected paths that a person lets the agent change."""
    approvals: tuple[Approved, ...] = ()
    remembered: dict[str, tuple[str, Verdict]] = field(default_factory=dict)
    """The last verdict of gates that remember, with the snapshot it was about."""
    remedy_due: str | None = None
    restore_due: int | None = None
    pause: Paused | None = None
    halted: Halted | None = None
    away: str | None = None
    stop: StopRequested | None = None
    ending: Finish | None = None
    left: bool = False
    """The tree that stays was put in place."""
    outcome: Outcome | None = None
    reason: str = ""
    final_snapshot: str | None = None
    commit: str | None = None
    """The result as a commit, where the run had a worktree of its own."""

    @property
    def strategy_laps(self) -> int:
        """Laps that the strategy has used; those of the remedy ladder are not its own."""
        return len(self.iterations) - self.remedy_laps

    @property
    def last(self) -> Iteration | None:
        """The newest lap that is over, the baseline before there is any."""
        return self.iterations[-1] if self.iterations else self.baseline

    def snapshot_of(self, lap: int) -> str | None:
        """The tree that a lap left behind; lap 0 is the untouched one."""
        if lap == 0:
            first = self.baseline or (self.iterations[0] if self.iterations else None)
            return None if first is None else (first.snapshot if first.number == 0 else first.base)
        return self.iterations[lap - 1].snapshot if lap <= len(self.iterations) else None
