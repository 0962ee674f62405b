"""Everything a report says about a run, in any format; its JSON encoding is a format, too."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from msgspec import Struct, field

from untilgreen import __version__
from untilgreen.core.exit_codes import exit_code
from untilgreen.core.scoring.progress import Overview, progress
from untilgreen.core.values.limits import Limits
from untilgreen.core.values.model import Plan
from untilgreen.core.values.state import Best, Lap, RunState
from untilgreen.engine.store.reading import status
from untilgreen.surfaces.json.lap import LapView, lap_view
from untilgreen.surfaces.json.lines import SCHEMA, Line
from untilgreen.surfaces.why.evidence import Reasons, reasons

MOST_DIFF = 200_000
"""Characters of one diff that a report shows; the rest is counted."""
WHOLE = -1
"""Stands for the whole run where diffs are kept by lap."""


class ReportedGate(Struct, frozen=True, kw_only=True):
    """A gate as the spec has it."""

    name: str
    kind: str
    required: bool
    stage: int
    shown_as: str = ""


def reported_gates(plan: Plan) -> tuple[ReportedGate, ...]:
    """The gates of a plan, in its order."""
    return tuple(
        ReportedGate(
            name=gate.name,
            kind=gate.kind,
            required=gate.required,
            stage=gate.stage,
            shown_as=gate.shown_as,
        )
        for gate in plan.gates
    )


class Diff(Struct, frozen=True, kw_only=True):
    """A unified diff, as much of it as a report shows."""

    text: str = ""
    left_out: int = 0
    """Characters beyond those shown."""


class Report(Line, frozen=True, kw_only=True, tag="report"):
    """A whole run."""

    schema: str = SCHEMA
    tool: str = f"untilgreen {__version__}"
    run: str
    status: str
    outcome: str | None
    reason: str
    exit_code: int
    task: str
    title: str
    labels: dict[str, str]
    agents: tuple[str, ...]
    strategy: str
    started: float | None
    ended: float
    elapsed: float
    waited: float
    tokens: int | None
    cost: float | None
    unpriced: int
    limits: Limits
    best: Best | None
    final_snapshot: str | None
    head: str
    gates: tuple[ReportedGate, ...]
    laps: tuple[LapView, ...]
    """The baseline, as lap 0, and every lap."""
    progress: Overview
    why: Reasons
    diffs: dict[int, Diff] = field(default_factory=dict)
    """What each lap changed, by its number."""
    diff: Diff = Diff()
    """What the whole run changed."""
    missing: str = ""
    """Why there are no diffs, if there are none."""

    @property
    def agent_laps(self) -> tuple[LapView, ...]:
        """The laps without the baseline."""
        return tuple(lap for lap in self.laps if lap.number)


def gather(
    state: RunState,
    head: str,
    *,
    started: float | None = None,
    diffs: Mapping[int, str] | None = None,
    missing: str = "",
    flags: str = "",
) -> Report:
    """Put a report together; `diffs` are by lap, with the whole run's under `WHOLE`."""
    shown = {lap: shortened_diff(text) for lap, text in (diffs or {}).items()}
    why = reasons(state, flags=flags)
    return Report(
        run=state.run,
        status=status(state),
        outcome=None if state.outcome is None else str(state.outcome),
        reason=why.reason,
        exit_code=exit_code(state),
        task=state.plan.task,
        title=state.plan.title,
        labels=state.plan.labels,
        agents=state.plan.agent_names(),
        strategy=state.plan.strategy.name,
        started=started,
        ended=state.now,
        elapsed=state.elapsed,
        waited=state.waited,
        tokens=state.spent.tokens,
        cost=state.spent.cost,
        unpriced=state.spent.unpriced,
        limits=state.plan.limits,
        best=state.best,
        final_snapshot=state.final_snapshot,
        head=head,
        gates=reported_gates(state.plan),
        laps=tuple(lap_view(lap) for lap in state.baseline_and_laps),
        progress=progress(state),
        why=why,
        diffs={lap: diff for lap, diff in shown.items() if lap != WHOLE},
        diff=shown.get(WHOLE, Diff()),
        missing=missing,
    )


def when(moment: float | None) -> str:
    """A time in UTC."""
    return "" if moment is None else datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def decision_line(lap: LapView | Lap) -> str:
    """What was decided after a lap, and why."""
    return "" if lap.decision is None else f"{lap.decision.__struct_config__.tag}: {lap.decision.reason}"


def shortened_diff(text: str) -> Diff:
    """The beginning of a diff, up to a whole line, and how much is left out."""
    if len(text) <= MOST_DIFF:
        return Diff(text=text)
    shown = text[:MOST_DIFF].rpartition("\n")[0]
    return Diff(text=shown, left_out=len(text) - len(shown))
