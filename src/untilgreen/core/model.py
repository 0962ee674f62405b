"""The values everything else is made of: what is wanted, what was done, what was found."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Literal

from msgspec import Struct, field

from untilgreen.core.fingerprint import fingerprint
from untilgreen.core.limits import Limits

Status = Literal["pass", "fail", "error", "skip"]
OnFail = Literal["iterate", "stop", "ask"]
When = Literal["always", "changed", "claimed"]
Permissions = Literal["gates", "all"]
"""What an agent may do unasked: edit files and run what the gates run, or everything."""
ErrorClass = Literal[
    "crash",
    "timeout",
    "stalled",
    "interrupted",
    "rate_limited",
    "quota",
    "auth",
    "network",
    "permission",
    "question",
]
NO_SANDBOX, BWRAP = "none", "bwrap"
IN_PLACE, WORKTREE = "in-place", "worktree"
"""Where a run works: among the user's files, or in a directory of its own."""
CLAIM_GATE = "claim"
INTEGRITY_GATE = "integrity"
APPROVAL_GATE = "approval"
JUDGE_GATE = "judge"
ASKS_A_PERSON = frozenset({JUDGE_GATE, APPROVAL_GATE})
"""Gate kinds that must be heard even when everything else is green from the start."""
REMEMBERS = frozenset({JUDGE_GATE, "ci"})
"""Gate kinds that cost people or money, so that their verdict stands as long as the files do."""


class Outcome(StrEnum):
    """How a run ended."""

    CONVERGED = "converged"
    ACCEPTED = "accepted"
    CLAIMED = "claimed"
    EXHAUSTED = "exhausted"
    STUCK = "stuck"
    BLOCKED = "blocked"
    CANCELLED = "cancelled"
    CRASHED = "crashed"


class Finding(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One complaint of a gate; its id stays the same while the complaint does."""

    id: str
    message: str = ""
    file: str | None = None
    line: int | None = None


class Verdict(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one gate concluded about one state of the workspace."""

    status: Status
    score: float = 0.0
    findings: tuple[Finding, ...] = ()
    more: int = 0
    """Findings left out to keep the event small; `digest` stands for all of them."""
    digest: str = ""
    """Fingerprint of every finding, or of the normalised output where there are none."""
    sketch: tuple[int, ...] = ()
    """For comparing outputs that name no finding."""
    excerpt: str = ""
    """Head and tail of the output."""
    output: str | None = None
    """Where the whole output is, relative to the run's folder."""
    duration: float = 0.0
    flaky: bool = False
    """Went from red to green, or back, while no file changed."""

    @property
    def count(self) -> int:
        """How many complaints there are, including those left out; a bare failure is one."""
        if self.status in ("pass", "skip"):
            return 0
        return len(self.findings) + self.more or 1

    def failing(self, gate: str) -> frozenset[str]:
        """The complaints as ids that can be compared from lap to lap."""
        if self.status in ("pass", "skip"):
            return frozenset()
        ids = {f"{gate}: {finding.id}" for finding in self.findings}
        if self.more or not ids:
            ids.add(f"{gate}: #{self.digest or fingerprint(self.excerpt)}")
        return frozenset(ids)


class GateSpec(Struct, frozen=True, kw_only=True):
    """One gate: which check, and what follows from its verdict."""

    name: str
    kind: str = "command"
    origin: str = ""
    options: dict[str, Any] = field(default_factory=dict)
    required: bool = True
    stage: int = 1
    on_fail: OnFail = "iterate"
    when: When = "always"
    timeout: float | None = 600.0
    retries: int = 0
    max_attempts: int | None = None
    shown_as: str = ""
    """What the brief shows of it, for most gates the command."""


class PartSpec(Struct, frozen=True, kw_only=True):
    """A strategy, detector, agent or notifier by name, where it came from, and its options."""

    name: str
    use: str = ""
    """The plugin behind the name, where it is called otherwise."""
    origin: str = ""
    options: dict[str, Any] = field(default_factory=dict)


class Moment(Struct, frozen=True, kw_only=True):
    """A point in time on a clock that has a name; on different clocks nothing comes before anything."""

    clock: str
    seconds: float

    def before(self, other: Moment | None) -> bool:
        """Whether it was surely earlier."""
        return other is not None and self.clock == other.clock and self.seconds < other.seconds


class Sandbox(Struct, frozen=True, kw_only=True):
    """What agents and gates are kept from, whatever they try."""

    mode: Literal["none", "bwrap"] = "none"
    network: Literal["all", "agents", "none"] = "all"
    """Who may use the network beside the loopback of their own: everybody, agents but not gates, nobody."""
    env: tuple[str, ...] = ()
    """Names of variables that are let in beside the usual ones; `*` stands for any end."""
    read: tuple[str, ...] = ()
    """Paths of the home directory, or of another place that is hidden, that are shown."""
    write: tuple[str, ...] = ()
    """Paths that may be written beside the workspace."""


class Promise(Struct, frozen=True, kw_only=True):
    """What the agent writes to claim that it is done, and from which lap on it is heard."""

    text: str = "DONE"
    min: int = 1
    tokens: bool = False


class Plan(Struct, frozen=True, kw_only=True):
    """A resolved spec: all that a run needs to be driven from any machine.

    Written in full, defaults included, so that a later version with other defaults changes no old run.
    """

    task: str
    gates: tuple[GateSpec, ...] = ()
    agents: tuple[PartSpec, ...] = (PartSpec(name="agent"),)
    strategy: PartSpec = PartSpec(name="hybrid")
    detectors: tuple[PartSpec, ...] = ()
    remedies: tuple[str, ...] = ()
    notify: tuple[PartSpec, ...] = ()
    limits: Limits = field(default_factory=Limits)
    promise: Promise | None = None
    session: Literal["fresh", "continue"] = "fresh"
    permissions: Permissions = "gates"
    leave: Literal["best", "last"] = "best"
    on_interrupt: Literal["keep", "rewind"] = "keep"
    baseline: bool = True
    labels: dict[str, str] = field(default_factory=dict)
    workspace: dict[str, Any] = field(default_factory=dict)
    sandbox: Sandbox = Sandbox()
    template: str = ""
    """What a session is told, with placeholders; empty is the built-in one."""

    @property
    def title(self) -> str:
        """The task's first line, short enough for a list."""
        first = next((line.strip() for line in self.task.splitlines() if line.strip()), "(no task)")
        return first if len(first) <= 72 else first[:71] + "…"

    def gate(self, name: str) -> GateSpec:
        """The gate of that name."""
        return next(gate for gate in self.gates if gate.name == name)

    def agent_names(self) -> tuple[str, ...]:
        """The agents in the order in which they are fallen back to."""
        return tuple(agent.name for agent in self.agents)


class Usage(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a turn used; `source` says how far the cost can be believed."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cost: float | None = None
    source: Literal["reported", "priced", "unknown"] = "unknown"

    @property
    def tokens(self) -> int:
        """Input and output together."""
        return self.input_tokens + self.output_tokens


class Reply(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """All that an agent hands back from one turn; no error means that the turn itself went well."""

    text: str = ""
    """The last text the agent itself wrote in this turn."""
    error: ErrorClass | None = None
    detail: str = ""
    usage: Usage = Usage()
    total: Usage | None = None
    """What the whole session has used by now, where the agent counts so."""
    session: str | None = None
    retry_at: float | None = None
    denied: tuple[str, ...] = ()
    """Tools or commands that the agent was not allowed to use."""
    size: int = 0
    """Characters of the whole text, where `text` was cut to fit an event."""
    digest: str = ""
    sketch: tuple[int, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether the turn itself went well; says nothing about the work."""
        return self.error is None


class Change(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One path that a turn changed."""

    path: str
    status: Literal["added", "modified", "deleted"] = "modified"


class Spent(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the run has used so far, attempts that were no laps included."""

    tokens: int = 0
    cost: float = 0.0
    unpriced: int = 0
    """Turns whose cost nobody knows."""
