"""What is wanted (plan, gates, agents), what was done (reply), and what was found (verdict)."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Literal

from msgspec import Struct, field

from untilgreen.core.values.fingerprint import output_fingerprint
from untilgreen.core.values.limits import Limits

Status = Literal["pass", "fail", "error", "skip"]
OnFail = Literal["iterate", "stop", "ask"]
When = Literal["always", "changed", "claimed"]
Wait = Literal["default", "forever"]
"""How long a question waits for an answer: for a while, then its default is taken; or forever."""
Permissions = Literal["gates", "all"]
"""What an agent may do without asking: edit files and run what the gates run, or everything."""
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
CONTAINERS = ("docker", "podman")
IN_PLACE, WORKTREE = "in-place", "worktree"
"""Where a run works: among the user's files, or in its own directory."""
ADAPTIVE = "adaptive"
"""The strategy that learns."""
CLAIM_GATE = "claim"
INTEGRITY_GATE = "integrity"
APPROVAL_GATE = "approval"
JUDGE_GATE = "judge"
SILENT = "exit code "
"""Prefix of the finding when a command failed without output; comparing laps ignores such findings."""
ASKS_A_PERSON = frozenset({JUDGE_GATE, APPROVAL_GATE})
"""Gate kinds that must be asked even when everything else is green from the start."""
REMEMBERS = frozenset({JUDGE_GATE, "ci"})
"""Gate kinds that cost time or money, so their verdict is reused until the files change."""
NOT_OF_FILES_ALONE = REMEMBERS | {APPROVAL_GATE, INTEGRITY_GATE, CLAIM_GATE}
"""Gate kinds that may judge the same files differently without being flaky."""


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

    @property
    def good(self) -> bool:
        """Whether the run ended in success."""
        return self in (Outcome.CONVERGED, Outcome.ACCEPTED, Outcome.CLAIMED)


class Finding(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One finding of a gate; its id stays the same until it is fixed."""

    id: str
    message: str = ""
    file: str | None = None
    line: int | None = None


class ToolCount(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One tool's counts, read from a gate's output or report; a gate may run several tools."""

    tool: str
    passed: int = 0
    failed: int = 0
    total: int = 0
    """Tests that could pass, including those never reached, without skipped ones; 0 for a linter."""
    skipped: int = 0
    uncounted: bool = False
    """The tool finished its tests, but prints how many only when one fails, as gradle does."""


class Verdict(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one gate concluded about one state of the workspace."""

    status: Status
    score: float = 0.0
    findings: tuple[Finding, ...] = ()
    tools: tuple[ToolCount, ...] = ()
    """What each recognized tool counted, whether the gate passed or not."""
    more: int = 0
    """Findings left out to keep the event small; `digest` stands for all of them."""
    digest: str = ""
    """Fingerprint of every finding, or of the normalized output if there are none."""
    sketch: tuple[int, ...] = ()
    """For comparing outputs without findings."""
    excerpt: str = ""
    """Head and tail of the output."""
    output: str | None = None
    """Where the whole output is, relative to the run's folder."""
    duration: float = 0.0
    flaky: bool = False
    """Went from red to green, or back, while no file changed."""

    @property
    def count(self) -> int:
        """How many findings there are, including those left out; a bare failure is one."""
        if self.status in ("pass", "skip"):
            return 0
        return len(self.findings) + self.more or 1

    def failing(self, gate: str) -> frozenset[str]:
        """The findings as ids that can be compared from lap to lap."""
        if self.status in ("pass", "skip"):
            return frozenset()
        ids = {f"{gate}: {finding.id}" for finding in self.findings}
        if self.more or not ids:
            ids.add(f"{gate}: #{self.digest or output_fingerprint(self.excerpt)}")
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
    """How the brief shows it: for most gates, the command."""


class PartSpec(Struct, frozen=True, kw_only=True):
    """A strategy, detector, agent or notifier by name, where it came from, and its options."""

    name: str
    use: str = ""
    """The plugin behind the name, if they differ."""
    origin: str = ""
    options: dict[str, Any] = field(default_factory=dict)


class Moment(Struct, frozen=True, kw_only=True):
    """A point in time on a named clock; times on different clocks can't be compared."""

    clock: str
    seconds: float

    def before(self, other: Moment | None) -> bool:
        """Whether it was certainly earlier."""
        return other is not None and self.clock == other.clock and self.seconds < other.seconds


class SandboxSpec(Struct, frozen=True, kw_only=True):
    """What agents and gates can reach, no matter what they try."""

    mode: Literal["none", "bwrap", "docker", "podman"] = "none"
    image: str = ""
    """The image for docker or podman containers."""
    network: Literal["all", "agents", "none"] = "all"
    """Who may use the network beyond a private loopback: everybody, agents but not gates, or nobody."""
    env: tuple[str, ...] = ()
    """Names of variables to pass in besides the usual ones; `*` matches any ending."""
    read: tuple[str, ...] = ()
    """Paths in the home directory, or in another hidden place, to make visible."""
    write: tuple[str, ...] = ()
    """Paths besides the workspace that may be written."""
    disk: int | str | None = None
    """Bytes that an agent or a gate may write to the disk, and that each empty directory may hold."""
    memory: int | str | None = None
    """Bytes of memory that an agent or a gate may use: all of its processes with cgroup v2, else each."""
    processes: int = 8192
    """Processes and threads that an agent or a gate may have at a time."""
    as_root: bool = False
    """Whether a driver running as root may use a sandbox, although it then protects less."""


class Promise(Struct, frozen=True, kw_only=True):
    """What the agent writes to claim that it is done, and the first lap in which that counts."""

    text: str = "DONE"
    min: int = 1
    tokens: bool = False


class Plan(Struct, frozen=True, kw_only=True):
    """A resolved spec: everything a run needs to be driven from any machine.

    Written in full, defaults included, so that a later version with other defaults changes no old run.
    """

    task: str
    gates: tuple[GateSpec, ...] = ()
    agents: tuple[PartSpec, ...] = (PartSpec(name="agent"),)
    strategy: PartSpec = PartSpec(name="hybrid")
    strategy_laps: int | None = None
    """The most laps that the strategy itself allows; None if unlimited."""
    detectors: tuple[PartSpec, ...] = ()
    remedies: tuple[str, ...] = ()
    notify: tuple[PartSpec, ...] = ()
    limits: Limits = field(default_factory=Limits)
    promise: Promise | None = None
    session: Literal["fresh", "continue"] = "fresh"
    permissions: Permissions = "gates"
    leave: Literal["best", "last"] = "best"
    on_interrupt: Literal["keep", "rewind"] = "keep"
    wait: Wait = "default"
    baseline: bool = True
    labels: dict[str, str] = field(default_factory=dict)
    workspace: dict[str, Any] = field(default_factory=dict)
    sandbox: SandboxSpec = SandboxSpec()
    template: str = ""
    """The template of a session's brief; empty for the built-in one."""

    @property
    def title(self) -> str:
        """The task's first line, short enough for a list."""
        first = next((line.strip() for line in self.task.splitlines() if line.strip()), "(no task)")
        return first if len(first) <= 72 else first[:71] + "…"

    @property
    def most_laps(self) -> int | None:
        """The limit or the strategy's own maximum, whichever is lower; None if neither is set."""
        bounds = [int(each) for each in (self.limits.iterations, self.strategy_laps) if each is not None]
        return min(bounds, default=None)

    def gate(self, name: str) -> GateSpec:
        """The gate of that name."""
        return next(gate for gate in self.gates if gate.name == name)

    def agent_names(self) -> tuple[str, ...]:
        """The agents in their fallback order."""
        return tuple(agent.name for agent in self.agents)


def learns(plan: Plan) -> bool:
    """Whether the plan's strategy learns from earlier runs."""
    return (plan.strategy.use or plan.strategy.name) == ADAPTIVE


class Usage(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a turn used; `source` says where the cost comes from."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cost: float | None = None
    source: Literal["reported", "priced", "unknown"] = "unknown"

    @property
    def tokens(self) -> int | None:
        """Input and output together; None if they were not counted."""
        return self.input_tokens + self.output_tokens or None


def cost_source(cost: float | None) -> Literal["reported", "unknown"]:
    """The `source` for a cost that an agent reports, or for None if it reports none."""
    return "unknown" if cost is None else "reported"


class Reply(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Everything an agent returns from one turn; no error means that the turn itself went well."""

    text: str = ""
    """The last text the agent itself wrote in this turn."""
    error: ErrorClass | None = None
    detail: str = ""
    usage: Usage = Usage()
    total: Usage | None = None
    """What the whole session has used so far, for agents that report totals."""
    session: str | None = None
    retry_at: float | None = None
    denied: tuple[str, ...] = ()
    """Tools or commands that the agent was not allowed to use."""
    exit_code: int | None = None
    """The exit code of the agent's process, if there was one."""
    size: int = 0
    """Characters of the whole text, even if `text` was cut to fit an event."""
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
    """What the run has used so far, including attempts that did not count as laps."""

    tokens: int | None = 0
    """None if there were turns, but their tokens were not counted."""
    cost: float | None = 0.0
    """None if there were turns, but none has a known cost."""
    unpriced: int = 0
    """Turns whose cost is unknown."""
