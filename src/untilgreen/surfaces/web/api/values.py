"""What the API answers, as types."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from untilgreen.backtest.strategies import Replayed
from untilgreen.backtest.strategies import Row as StrategyRow
from untilgreen.core.scoring.progress import Overview
from untilgreen.core.values.fleet_view import FleetView
from untilgreen.core.values.limits import Limits
from untilgreen.core.values.model import Change
from untilgreen.core.values.state import Best
from untilgreen.engine.operations.doctor import Row as CheckedThing
from untilgreen.plugins.registry import PluginInfo
from untilgreen.ports import ShownActivity
from untilgreen.surfaces.json.lap import LapView
from untilgreen.surfaces.json.lines import ConflictShown, EventLine
from untilgreen.surfaces.report.content import Diff, ReportedGate
from untilgreen.surfaces.web.api.requests import Done, Health
from untilgreen.surfaces.web.people import Person
from untilgreen.surfaces.why.evidence import Reasons


class ServerVersion(Struct, frozen=True, kw_only=True):
    """Which server this is, and what it allows."""

    untilgreen: str
    api: str
    read_only: bool
    roots: tuple[str, ...]
    """Where runs may be started."""
    fleet: bool
    """Whether it knows of a fleet."""
    person: Person
    """Who is calling, and what they may do."""


class Choice(Struct, frozen=True, kw_only=True):
    """One possible answer, with what it does."""

    choice: str
    meaning: str
    default: bool = False
    argument: str = ""
    """What the answer needs beside it: `lap`, `agent` or nothing."""


class GateMark(Struct, frozen=True, kw_only=True):
    """The latest verdict of a gate, in short."""

    gate: str
    status: str


class Question(Struct, frozen=True, kw_only=True):
    """What a run asks a person."""

    run: str
    title: str
    id: str
    """Send it back with the answer, so that an answer to an older question is refused."""
    question: str
    choices: tuple[Choice, ...]
    lap: int
    """The last lap, which the question is about; 0 is the baseline."""
    gates: tuple[GateMark, ...]
    """The latest verdicts of its gates."""
    asked: float
    until: float | None
    """When the default is taken; null: never."""


class Inbox(Struct, frozen=True, kw_only=True):
    """Every open question of every run."""

    questions: tuple[Question, ...]


class RunSummary(Struct, frozen=True, kw_only=True):
    """A run as a list shows it."""

    run: str
    status: str
    running: bool
    title: str
    workspace: str
    labels: dict[str, str]
    agent: str
    strategy: str
    laps: int
    most_laps: float | None
    score: float
    """Of the best lap."""
    scores: tuple[float, ...]
    """Of the newest laps."""
    cost: float | None
    tokens: int | None
    elapsed: float
    started: float | None
    updated: float
    gates: tuple[GateMark, ...]
    waiting: str = ""
    """The question, where it waits for a person."""
    fleet: bool = False
    """Whether workers of a fleet drive it."""
    problem: str = ""
    """Why its journal can't be read."""


class RunsPage(Struct, frozen=True, kw_only=True):
    """Runs, newest first."""

    runs: tuple[RunSummary, ...]
    total: int
    next: str | None = None
    """Pass it as `before` for the next page."""
    missing: str = ""
    """Why the runs of the fleet are not among them."""


class RunView(Struct, frozen=True, kw_only=True):
    """One run: everything but its laps."""

    run: str
    status: str
    running: bool
    now: str
    """What happens right now."""
    outcome: str | None
    reason: str
    task: str
    title: str
    labels: dict[str, str]
    workspace: str
    agents: tuple[str, ...]
    strategy: str
    started: float | None
    updated: float
    elapsed: float
    tokens: int | None
    cost: float | None
    limits: Limits
    best: Best | None
    laps: int
    open_lap: int | None
    """The current lap."""
    gates: tuple[ReportedGate, ...]
    progress: Overview
    why: Reasons
    question: Question | None
    position: int
    """How many events it is made of: follow the stream from here."""
    head: str
    fleet: bool = False
    """Whether a fleet drives it."""


class Course(Struct, frozen=True, kw_only=True):
    """How a run went, column by column: one entry for each lap, the baseline being lap 0."""

    laps: tuple[int, ...]
    score: tuple[float, ...]
    findings: tuple[int, ...]
    cost: tuple[float | None, ...]
    tokens: tuple[int | None, ...]
    seconds: tuple[float, ...]
    cells: dict[str, tuple[str, ...]]
    """For each gate, its verdict in each lap: `pass`, `fail:3`, `error`, `skip`; `~` at the end is flaky."""
    decisions: tuple[str, ...]
    """What followed from each lap."""


class LapPage(Struct, frozen=True, kw_only=True):
    """One lap with everything about it."""

    run: str
    laps: int
    """How many laps are over."""
    lap: LapView
    brief: str
    fixed: tuple[str, ...]
    broken: tuple[str, ...]
    new: tuple[str, ...]
    diff: Diff
    missing: str = ""
    """Why there is no diff, if there should be one."""


class TextPart(Struct, frozen=True, kw_only=True):
    """Part of a long text."""

    text: str
    offset: int
    next: int
    """Where the next part begins."""
    total: int


class ActivityPart(Struct, frozen=True, kw_only=True):
    """What the agent showed from an offset on."""

    shown: tuple[ShownActivity, ...]
    next: int
    """Where the next part begins."""


class Comparison(Struct, frozen=True, kw_only=True):
    """Several runs side by side."""

    runs: tuple[ComparedRun, ...]


class ComparedRun(Struct, frozen=True, kw_only=True):
    """One of the runs that are compared."""

    summary: RunSummary
    reason: str
    course: Course


class TrustNeeded(Struct, frozen=True, kw_only=True):
    """What a spec file would run, for a person to look at; its digest says yes to exactly this."""

    path: str
    digest: str
    lines: tuple[str, ...]


class PlannedGate(Struct, frozen=True, kw_only=True):
    """A gate of a plan, and what it runs."""

    name: str
    shown_as: str


class SpecForm(Struct, frozen=True, kw_only=True):
    """What a run can be given, for a form."""

    schema: dict[str, Any]
    """The JSON Schema of a spec."""
    given: tuple[str, ...] = ()
    """The keys that the directory's own spec sets, such as `limits.cost`."""
    profiles: tuple[str, ...] = ()


class Planned(Struct, frozen=True, kw_only=True):
    """What a run would do, and what it can cost at most; null is no limit."""

    workspace: str
    task: str
    trust: TrustNeeded | None = None
    """Set where a spec has to be trusted before more can be said."""
    agents: tuple[str, ...] = ()
    strategy: str = ""
    gates: tuple[PlannedGate, ...] = ()
    permissions: str = ""
    sandbox: str = ""
    laps: int | None = None
    seconds: float | None = None
    cost: float | None = None
    tokens: int | None = None


class Restored(Struct, frozen=True, kw_only=True):
    """The files of a lap are back."""

    run: str
    lap: int
    before: str
    """The snapshot of what was there."""
    kept: tuple[str, ...]
    """Files that were left alone, because somebody changed them."""


class Applied(Struct, frozen=True, kw_only=True):
    """What happened to the user's files; with conflicts nothing is written unless markers were requested."""

    run: str
    written: bool
    changes: tuple[Change, ...] = ()
    conflicts: tuple[ConflictShown, ...] = ()
    kept: tuple[str, ...] = ()
    """Files that were left alone, because somebody changed them meanwhile."""


class Plugins(Struct, frozen=True, kw_only=True):
    """Everything that a spec can name."""

    plugins: tuple[PluginInfo, ...]


class Checkup(Struct, frozen=True, kw_only=True):
    """The checks of this machine."""

    rows: tuple[CheckedThing, ...]


class BacktestRow(Struct, frozen=True, kw_only=True):
    """All runs with one strategy, in figures and in a sentence."""

    row: StrategyRow
    saved: float
    """The share that would have been saved: of the money if known, otherwise of the time."""
    lost: float
    """The share of successes that would have been lost."""
    sentence: str


class Difference(Struct, frozen=True, kw_only=True):
    """A run that would have ended differently."""

    strategy: str
    title: str
    replayed: Replayed


class Backtest(Struct, frozen=True, kw_only=True):
    """Your own runs, replayed with other strategies."""

    runs: int
    left_out: int
    """Runs that are not over, have no lap, or are older than those that are replayed."""
    trouble: tuple[str, ...]
    strategies: tuple[BacktestRow, ...]
    different: tuple[Difference, ...]
    usual: tuple[str, ...]
    """The strategies that are tried when none is named."""


ANSWERS: dict[str, Any] = {
    each.__name__: each
    for each in (
        str,
        ActivityPart,
        Applied,
        Backtest,
        Checkup,
        Comparison,
        Course,
        Done,
        EventLine,
        FleetView,
        Health,
        Inbox,
        LapPage,
        Planned,
        Plugins,
        Reasons,
        Restored,
        RunSummary,
        RunView,
        RunsPage,
        ServerVersion,
        SpecForm,
        TextPart,
    )
}
"""The types that the table of operations names."""
