"""Every line that `--json` prints, as a type; the published schema is made from these."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

from untilgreen.core.scoring.gate_health import Health, Tally
from untilgreen.core.scoring.progress import Overview
from untilgreen.core.values.decision import Ask
from untilgreen.core.values.events import Event
from untilgreen.core.values.fleet_view import FleetView
from untilgreen.core.values.limits import Limits
from untilgreen.core.values.model import Change, Finding, Outcome, Verdict
from untilgreen.core.values.state import Best
from untilgreen.engine.operations.worst_case import WorstCase
from untilgreen.surfaces.json.lap import LapView

SCHEMA = "1.0"
"""Version of everything that `--json` prints: a minor version adds fields, a major one may break readers."""


class Line(Struct, frozen=True, kw_only=True, tag_field="type", tag="line"):
    """One line; its `type` says which."""


class Version(Line, frozen=True, kw_only=True, tag="version"):
    """The first line of every output."""

    schema: str = SCHEMA
    tool: str = "untilgreen"


class DetachedLine(Line, frozen=True, kw_only=True, tag="detached"):
    """A run that continues in the background: `run --detach`, `resume --detach`."""

    run: str
    pid: int
    log: str
    """The log file of the process."""


class EventLine(Line, frozen=True, kw_only=True, tag="event"):
    """An event of a run: `run`, `resume`, `follow`, `demo`."""

    run: str
    event: Event


class Result(Line, frozen=True, kw_only=True, tag="result"):
    """A run's result so far: `show`, and the last line of `run`, `resume`, `fork`, `follow` and `demo`."""

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
    laps: int
    tokens: int | None
    """None if they are unknown; so is the cost."""
    cost: float | None
    best: Best | None
    final_snapshot: str | None
    workspace: str
    branch: str | None
    commit: str | None
    commits: tuple[str, ...]
    """Commits that agents made themselves."""
    dirty: list[str]
    verdicts: dict[str, Verdict]
    baseline: dict[str, list[Health]]
    """The state of each gate before the first lap."""
    flaky: dict[str, tuple[int, ...]]
    """Gates that were red and green on the same files, with the laps; 0 is the baseline."""
    question: Ask | None
    progress: Overview
    """Score, trend, velocity and laps left, over all required gates and for each gate."""
    history: list[LapView]
    """The laps, oldest first."""
    head: str


class LapLine(Line, frozen=True, kw_only=True, tag="lap"):
    """One lap of a run: `show RUN@LAP`."""

    run: str
    lap: LapView


class ConflictShown(Struct, frozen=True, kw_only=True):
    """A path that both sides changed."""

    path: str
    why: str
    text: str
    """The file with both sides between markers; empty if it is not text."""


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
    """What was not removed, because it is in use."""


class RunLine(Line, frozen=True, kw_only=True, tag="run"):
    """One row of `list`; a damaged run has only its status and the reason."""

    run: str
    status: str
    outcome: Outcome | None = None
    laps: int = 0
    score: float = 0.0
    cost: float | None = None
    tokens: int | None = None
    task: str = ""
    agent: str = ""
    started: float | None = None
    updated: float | None = None
    elapsed: float = 0.0
    reason: str = ""


class FleetLine(Line, frozen=True, kw_only=True, tag="fleet"):
    """A fleet at one moment: `fleet workers`."""

    fleet: FleetView


class VerdictLine(Line, frozen=True, kw_only=True, tag="verdict"):
    """The verdict of one gate: `check` and `plan`."""

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
    """What was recognized in one file; the only line about it, so it carries the version."""

    schema: str = SCHEMA

    file: str
    tool: str | None
    signature: str
    """A short name for people, such as `error:TypeError-null-auth.ts`."""
    fingerprint: str
    findings: tuple[Finding, ...]


class TrustedLine(Line, frozen=True, kw_only=True, tag="trusted"):
    """One row of `trust --list`."""

    path: str
    digest: str
    at: float


class Setting(Line, frozen=True, kw_only=True, tag="setting"):
    """One value of the spec and where it comes from: `config show` and `plan`."""

    key: str
    value: Any
    source: str


class AgentLine(Line, frozen=True, kw_only=True, tag="agent"):
    """How an agent would be started in lap 1: `plan`."""

    name: str
    command: list[str]
    """Without the brief; empty if the adapter doesn't say."""
    found: bool
    """Whether the program is installed; true if that is unknown."""
    brief: str
    """How the brief is passed to it."""
    permissions: str
    env: dict[str, str] = {}
    """Variables that it gets beside yours; if you set one yourself, yours wins."""


class PastRuns(Struct, frozen=True, kw_only=True):
    """Finished runs with the same agent: in this directory, or anywhere if there are none here."""

    agent: str
    here: bool
    runs: int
    green: int
    half_green_by: int | None
    """The lap by which half of the green ones were green."""
    lap_cost: float | None
    """The mean price of a lap in dollars, over runs with a known cost."""


class PlanResult(Line, WorstCase, frozen=True, kw_only=True, tag="plan_result"):
    """The last line of `plan`."""

    green: bool
    """Whether the gates are green already."""
    exit_code: int
    past: PastRuns | None = None
    """What earlier runs with the first agent took; null if there are none."""


class HealthLine(Line, frozen=True, kw_only=True, tag="row"):
    """One thing that `doctor` checked."""

    name: str
    status: Literal["ok", "absent", "warn", "fail"]
    detail: str
    fix: str


class DoctorResult(Line, frozen=True, kw_only=True, tag="doctor_result"):
    """The last line of `doctor`."""

    exit_code: int


class SessionLine(Line, frozen=True, kw_only=True, tag="session"):
    """A loop in an agent's session: `session state` and `session list`."""

    active: bool
    """Whether the run is still open; one that waits for a person is active, too."""
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
    """Why it waits; empty while a turn is running."""
