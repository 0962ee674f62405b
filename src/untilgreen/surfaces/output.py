"""Every line that `--json` prints, as a type: the published schema is made from these."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

from untilgreen.core.decision import Ask, Continue, Finish
from untilgreen.core.events import Event
from untilgreen.core.limits import Limits
from untilgreen.core.model import Change, ErrorClass, Finding, Outcome, Verdict
from untilgreen.core.rules import Signal
from untilgreen.core.standing import Standing, Tally
from untilgreen.core.state import Best

SCHEMA = "1.0"
"""Version of everything that `--json` prints: a minor adds fields, a major may break."""


class Line(Struct, frozen=True, kw_only=True, tag_field="type", tag="line"):
    """One line; its `type` says which."""


class Version(Line, frozen=True, kw_only=True, tag="version"):
    """The first line of every output."""

    schema: str = SCHEMA
    tool: str = "untilgreen"


class DetachedLine(Line, frozen=True, kw_only=True, tag="detached"):
    """A run goes on in a process of its own: `run --detach`, `resume --detach`."""

    run: str
    pid: int
    log: str
    """The file that the process writes to."""


class EventLine(Line, frozen=True, kw_only=True, tag="event"):
    """Something happened to a run: `run`, `resume`, `follow`, `demo`."""

    run: str
    event: Event


class Lap(Struct, frozen=True, kw_only=True):
    """One lap of a result."""

    number: int
    agent: str
    started: float
    duration: float
    tokens: int
    cost: float
    error: ErrorClass | None
    reply: str
    claim: bool
    snapshot: str | None
    score: float
    verdicts: dict[str, Verdict]
    failing: list[str]
    signals: tuple[Signal, ...]
    decision: Continue | Finish | Ask | None


class Result(Line, frozen=True, kw_only=True, tag="result"):
    """How a run ended, or where it stands: `show`, and the last line of whatever drives or follows one."""

    run: str
    status: str
    outcome: Outcome | None
    reason: str
    exit_code: int
    task: str
    labels: dict[str, str]
    agent: str
    strategy: str
    limits: Limits
    elapsed: float
    waited: float
    tokens: int
    cost: float
    laps: int
    best: Best | None
    final_snapshot: str | None
    workspace: str
    branch: str | None
    commit: str | None
    commits: tuple[str, ...]
    """What agents committed themselves."""
    dirty: list[str]
    verdicts: dict[str, Verdict]
    baseline: dict[str, list[Standing]]
    """How each gate stood before the first lap."""
    flaky: dict[str, tuple[int, ...]]
    """Gates that changed their mind on the same files, with the laps; 0 is the baseline."""
    question: Ask | None
    iterations: list[Lap]
    head: str


class ConflictShown(Struct, frozen=True, kw_only=True):
    """A path that both sides changed."""

    path: str
    why: str
    text: str
    """The file with both sides between markers; empty where it is no text."""


class AppliedLine(Line, frozen=True, kw_only=True, tag="applied"):
    """What `apply` did, or would do."""

    run: str
    snapshot: str
    written: bool
    changes: tuple[Change, ...]
    conflicts: tuple[ConflictShown, ...]
    kept: tuple[str, ...]
    exit_code: int


class PrunedLine(Line, frozen=True, kw_only=True, tag="pruned"):
    """What `prune` did with one run, or would do."""

    run: str
    action: str
    why: str
    left: tuple[str, ...]
    """What was not removed, because somebody works with it."""


class RunLine(Line, frozen=True, kw_only=True, tag="run"):
    """One row of `list`; a damaged run has only its status and the reason."""

    run: str
    status: str
    outcome: Outcome | None = None
    laps: int = 0
    score: float = 0.0
    cost: float = 0.0
    tokens: int = 0
    task: str = ""
    updated: float | None = None
    reason: str = ""


class VerdictLine(Line, frozen=True, kw_only=True, tag="verdict"):
    """What one gate said: `check` and `plan`."""

    gate: str
    verdict: Verdict
    round: int = 1


class CheckResult(Line, frozen=True, kw_only=True, tag="check_result"):
    """The last line of `check`."""

    green: bool
    exit_code: int
    rounds: int = 1
    gates: dict[str, Tally] = {}


class PluginLine(Line, frozen=True, kw_only=True, tag="plugin"):
    """One row of `plugins`."""

    name: str
    kind: str
    origin: str
    summary: str
    problem: str


class FingerprintLine(Line, frozen=True, kw_only=True, tag="fingerprint"):
    """What was seen in one file; the only line about it, so it has the version in itself."""

    schema: str = SCHEMA

    file: str
    tool: str | None
    fingerprint: str
    findings: tuple[Finding, ...]


class TrustedLine(Line, frozen=True, kw_only=True, tag="trusted"):
    """One row of `trust --list`."""

    path: str
    digest: str
    at: float


class Setting(Line, frozen=True, kw_only=True, tag="setting"):
    """One value of the spec and where it came from: `config show` and `plan`."""

    key: str
    value: Any
    source: str


class AgentLine(Line, frozen=True, kw_only=True, tag="agent"):
    """How an agent would be started in lap 1: `plan`."""

    name: str
    command: list[str]
    """Without the brief; empty where the adapter does not say."""
    found: bool
    """Whether the program is there; true where nobody knows."""
    brief: str
    """How the brief reaches it."""
    permissions: str
    env: dict[str, str] = {}
    """Variables that it gets beside yours; where you have set one yourself, yours holds."""


class PlanResult(Line, frozen=True, kw_only=True, tag="plan_result"):
    """The last line of `plan`."""

    green: bool
    """Whether the gates are green already."""
    exit_code: int
    laps: int | None
    seconds: float | None
    gates_seconds: float | None
    wait_seconds: float | None
    cost: float | None
    tokens: int | None


class HealthLine(Line, frozen=True, kw_only=True, tag="row"):
    """One thing that `doctor` looked at."""

    name: str
    status: Literal["ok", "absent", "warn", "fail"]
    detail: str
    fix: str


class DoctorResult(Line, frozen=True, kw_only=True, tag="doctor_result"):
    """The last line of `doctor`."""

    exit_code: int


class SessionLine(Line, frozen=True, kw_only=True, tag="session"):
    """A loop inside of an agent's session: `session state` and `session list`."""

    active: bool
    """Whether the run is open; one that waits for a person is."""
    iteration: int
    max_iterations: int | None
    completion_promise: str | None
    started_at: str
    last_iteration_at: str | None
    prompt: str
    session_id: str
    description: str
    run: str
    agent: str
    waits: str
    """Why no turn of it is under way; empty while one is."""
