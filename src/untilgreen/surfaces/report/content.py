"""All that a report tells about a run, whatever its form; this is also what its JSON looks like."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from msgspec import Struct

from untilgreen import __version__
from untilgreen.core.exits import exit_code
from untilgreen.core.limits import Limits
from untilgreen.core.model import Change, Verdict
from untilgreen.core.progress import Overview, progress
from untilgreen.core.state import Best, Iteration, RunState
from untilgreen.engine.told import status
from untilgreen.surfaces.output import SCHEMA, Line
from untilgreen.surfaces.picture import laps_of
from untilgreen.surfaces.why.reasons import Reasons, reasons
from untilgreen.surfaces.why.words import signal_words

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


class ReportedLap(Struct, frozen=True, kw_only=True):
    """One lap, the untouched tree being lap 0."""

    number: int
    agent: str
    started: float
    duration: float
    score: float
    complaints: int
    tokens: int
    cost: float
    spent: float
    """Dollars in all up to the end of this lap."""
    verdicts: dict[str, Verdict]
    failing: tuple[str, ...]
    changes: tuple[Change, ...]
    improved: bool
    claim: bool
    remedy: str | None
    error: str | None
    reply: str
    decision: str
    signals: tuple[str, ...]
    snapshot: str | None
    diff: str = ""
    diff_left_out: int = 0
    """Characters of the diff beyond those shown."""


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
    tokens: int
    cost: float
    unpriced: int
    limits: Limits
    best: Best | None
    final_snapshot: str | None
    head: str
    gates: tuple[ReportedGate, ...]
    laps: tuple[ReportedLap, ...]
    progress: Overview
    why: Reasons
    diff: str = ""
    diff_left_out: int = 0
    missing: str = ""
    """Why there are no diffs, where there are none."""

    @property
    def iterations(self) -> tuple[ReportedLap, ...]:
        """The laps without the look at the untouched tree."""
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
    whole, left_out = _cut((diffs or {}).get(WHOLE, ""))
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
        gates=tuple(
            ReportedGate(
                name=gate.name,
                kind=gate.kind,
                required=gate.required,
                stage=gate.stage,
                shown_as=gate.shown_as,
            )
            for gate in state.plan.gates
        ),
        laps=_laps(state, diffs or {}),
        progress=progress(state),
        why=why,
        diff=whole,
        diff_left_out=left_out,
        missing=missing,
    )


def when(moment: float | None) -> str:
    """A time that means the same everywhere."""
    return "" if moment is None else datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def _laps(state: RunState, diffs: Mapping[int, str]) -> tuple[ReportedLap, ...]:
    spent, laps = 0.0, []
    for lap in laps_of(state):
        spent += lap.cost
        laps.append(_lap(lap, spent, diffs.get(lap.number, "")))
    return tuple(laps)


def _lap(lap: Iteration, spent: float, diff: str) -> ReportedLap:
    shown, left_out = _cut(diff)
    decision = lap.decision
    return ReportedLap(
        number=lap.number,
        agent=lap.agent,
        started=lap.started,
        duration=lap.duration,
        score=lap.score,
        complaints=lap.count,
        tokens=lap.tokens,
        cost=lap.cost,
        spent=spent,
        verdicts=lap.verdicts,
        failing=tuple(sorted(lap.failing)),
        changes=lap.changes,
        improved=lap.improved,
        claim=lap.claim,
        remedy=lap.remedy,
        error=lap.reply.error,
        reply=lap.reply.text,
        decision="" if decision is None else f"{decision.__struct_config__.tag}: {decision.reason}",
        signals=tuple(map(signal_words, lap.signals)),
        snapshot=lap.snapshot,
        diff=shown,
        diff_left_out=left_out,
    )


def _cut(text: str) -> tuple[str, int]:
    """The beginning, up to a whole line, and how much is left."""
    if len(text) <= MOST_DIFF:
        return text, 0
    shown = text[:MOST_DIFF].rpartition("\n")[0]
    return shown, len(text) - len(shown)
