"""A run in short, and its course lap by lap, as the page's lists, matrix and plots need them."""

from __future__ import annotations

from untilgreen.core.values.model import Verdict
from untilgreen.core.values.run_row import RunRow
from untilgreen.core.values.state import RunState
from untilgreen.surfaces.report.content import decision_line
from untilgreen.surfaces.web.api.values import Course, GateMark, RunSummary
from untilgreen.surfaces.web.known_runs import ListedRun


def summary_of(run: ListedRun) -> RunSummary:
    """One row of the list of runs."""
    row = run.row
    return RunSummary(
        run=run.name,
        status=row.status,
        running=run.running,
        title=row.title,
        workspace=run.workspace,
        labels=row.labels,
        agent=row.agent,
        strategy=row.strategy,
        laps=row.laps,
        most_laps=row.most_laps,
        score=row.score,
        scores=row.scores,
        cost=row.cost,
        tokens=row.tokens,
        elapsed=row.elapsed,
        started=row.started or None,
        updated=row.updated,
        gates=marks_of(row),
        waiting=row.question if row.outcome is None else "",
        fleet=run.fleet,
    )


def marks_of(row: RunRow) -> tuple[GateMark, ...]:
    """The latest verdict of each gate."""
    return tuple(GateMark(gate=name, status=status or "skip") for name, status in row.gates)


def course_of(state: RunState) -> Course:
    """Every lap in columns, the baseline first."""
    laps = state.baseline_and_laps
    return Course(
        laps=tuple(lap.number for lap in laps),
        score=tuple(lap.score for lap in laps),
        findings=tuple(lap.count for lap in laps),
        cost=tuple(lap.cost for lap in laps),
        tokens=tuple(lap.tokens for lap in laps),
        seconds=tuple(lap.duration for lap in laps),
        cells={
            gate.name: tuple(_cell(lap.verdicts.get(gate.name)) for lap in laps) for gate in state.plan.gates
        },
        decisions=tuple(decision_line(lap) for lap in laps),
    )


def _cell(verdict: Verdict | None) -> str:
    if verdict is None:
        return "skip"
    count = f":{verdict.count}" if verdict.status == "fail" else ""
    return f"{verdict.status}{count}{'~' if verdict.flaky else ''}"
