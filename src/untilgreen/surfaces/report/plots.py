"""The plots of a report: score, findings, and cost; each also as text and as a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from untilgreen.core.values.units import several, show_duration, show_score
from untilgreen.surfaces.json.lap import LapView
from untilgreen.surfaces.report.content import Report
from untilgreen.surfaces.report.svg import Plot, Point, bars, line


class Figure(Struct, frozen=True, kw_only=True):
    """A drawn plot, and the same as a table."""

    plot: Plot
    drawn: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def figures(report: Report) -> list[Figure]:
    """The plots of a run; none before its first lap."""
    if not report.laps:
        return []
    return [_score(report), _findings(report), _used(report)]


def _score(report: Report) -> Figure:
    best = report.best.lap if report.best else None
    trend = report.progress.overall.trend
    points = [
        Point(
            lap=lap.number,
            value=lap.score,
            title=f"{_named(lap)}: score {show_score(lap.score)}",
            marked=lap.number == best,
        )
        for lap in report.laps
    ]
    first, last = report.laps[0], report.laps[-1]
    plot = Plot(
        name="score",
        title="Score by lap",
        described=f"The score went from {show_score(first.score)} to {show_score(last.score)} "
        f"over {several(len(report.agent_laps), 'lap')}, trend {trend}; "
        + (f"lap {best} is best." if best is not None else "no lap is best yet."),
        points=points,
        shown=show_score,
        top=1.0,
    )
    return _figure(plot, line, ("lap", "score"), [show_score(lap.score) for lap in report.laps])


def _findings(report: Report) -> Figure:
    fewest = min(lap.findings for lap in report.laps)
    first = several(report.laps[0].findings, "finding")
    points = [
        Point(
            lap=lap.number,
            value=float(lap.findings),
            title=f"{_named(lap)}: {several(lap.findings, 'finding')}",
            marked=lap.improved,
        )
        for lap in report.laps
    ]
    plot = Plot(
        name="findings",
        title="Findings by lap",
        described=f"{first} at first, {report.laps[-1].findings} at the end, "
        f"{fewest} at best. Blue: better than every lap before.",
        points=points,
        shown="{:.0f}".format,
        top=None if max(lap.findings for lap in report.laps) > 4 else 4.0,
    )
    return _figure(plot, bars, ("lap", "findings"), [str(lap.findings) for lap in report.laps])


def _used(report: Report) -> Figure:
    """Cost if known, else tokens, else time: the running total, against its limit."""
    limits = report.limits
    if report.cost:
        return _sum(report, "cost", lambda lap: lap.cost or 0.0, "${:.2f}".format, _number(limits.cost))
    if report.tokens:
        return _sum(
            report, "tokens", lambda lap: float(lap.tokens or 0), "{:,.0f}".format, _number(limits.tokens)
        )
    return _sum(report, "time", lambda lap: lap.duration, show_duration, None)


def _sum(
    report: Report,
    what: str,
    used: Callable[[LapView], float],
    shown: Callable[[float], str],
    limit: float | None,
) -> Figure:
    total, points, rows = 0.0, [], []
    for lap in report.laps:
        total += used(lap)
        points.append(Point(lap=lap.number, value=total, title=f"up to {_named(lap)}: {shown(total)}"))
        rows.append(f"{shown(used(lap))}, {shown(total)} in total")
    near = limit is not None and total >= limit / 4  # a limit far above would flatten the line
    of = f" of {shown(limit)} allowed" if limit else ""
    plot = Plot(
        name="used",
        title=f"{what.capitalize()} used",
        described=f"{shown(total)}{of} after {several(len(report.agent_laps), 'lap')}.",
        points=points,
        shown=shown,
        limit=limit if near else None,
        limit_named=f"limit {shown(limit)}" if limit else "",
    )
    return _figure(plot, line, ("lap", what), rows)


def _figure(plot: Plot, draw: Callable[[Plot], str], columns: tuple[str, ...], rows: Sequence[str]) -> Figure:
    table = tuple((str(point.lap), row) for point, row in zip(plot.points, rows, strict=True))
    return Figure(plot=plot, drawn=draw(plot), columns=columns, rows=table)


def _number(value: float | str | None) -> float | None:
    return None if value is None else float(value)


def _named(lap: LapView) -> str:
    return f"lap {lap.number}" if lap.number else "lap 0, the baseline"
