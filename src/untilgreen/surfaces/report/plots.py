"""What is plotted about a run: score, complaints, and what it has used; each with its text alternative."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from untilgreen.core.units import several, show_duration
from untilgreen.surfaces.report.content import Report, ReportedLap
from untilgreen.surfaces.report.svg import Plot, Point, bars, line


class Figure(Struct, frozen=True, kw_only=True):
    """A drawn plot, and the same as a table."""

    plot: Plot
    drawn: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def figures(report: Report) -> list[Figure]:
    """Those that have something to show."""
    if not report.laps:
        return []
    return [_score(report), _complaints(report), _used(report)]


def _score(report: Report) -> Figure:
    best = report.best.lap if report.best else None
    trend = report.progress.overall.trend
    points = [
        Point(
            lap=lap.number,
            value=lap.score,
            told=f"{_named(lap)}: score {lap.score:.2f}",
            marked=lap.number == best,
        )
        for lap in report.laps
    ]
    first, last = report.laps[0], report.laps[-1]
    plot = Plot(
        name="score",
        title="Score by lap",
        described=f"The score went from {first.score:.2f} to {last.score:.2f} over {len(report.iterations)} "
        f"laps, trend {trend}; "
        + (f"lap {best} is the best." if best is not None else "no lap is the best."),
        points=points,
        shown="{:.2f}".format,
        top=1.0,
    )
    return _figure(plot, line, ("lap", "score"), [f"{lap.score:.2f}" for lap in report.laps])


def _complaints(report: Report) -> Figure:
    fewest = min(lap.complaints for lap in report.laps)
    first = several(report.laps[0].complaints, "complaint")
    points = [
        Point(
            lap=lap.number,
            value=float(lap.complaints),
            told=f"{_named(lap)}: {several(lap.complaints, 'complaint')}",
            marked=lap.improved,
        )
        for lap in report.laps
    ]
    plot = Plot(
        name="complaints",
        title="Complaints by lap",
        described=f"{first} at first, {report.laps[-1].complaints} at last, "
        f"{fewest} at the fewest. Blue: better than every lap before.",
        points=points,
        shown="{:.0f}".format,
        top=None if max(lap.complaints for lap in report.laps) > 4 else 4.0,
    )
    return _figure(plot, bars, ("lap", "complaints"), [str(lap.complaints) for lap in report.laps])


def _used(report: Report) -> Figure:
    """Money where it is known, else tokens, else time: added up from lap to lap, against its limit."""
    limits = report.limits
    if report.cost:
        return _sum(report, "cost", lambda lap: lap.cost, "${:.2f}".format, _number(limits.cost))
    if report.tokens:
        return _sum(report, "tokens", lambda lap: float(lap.tokens), "{:,.0f}".format, _number(limits.tokens))
    return _sum(report, "time", lambda lap: lap.duration, show_duration, None)


def _sum(
    report: Report,
    what: str,
    used: Callable[[ReportedLap], float],
    shown: Callable[[float], str],
    limit: float | None,
) -> Figure:
    total, points, rows = 0.0, [], []
    for lap in report.laps:
        total += used(lap)
        points.append(Point(lap=lap.number, value=total, told=f"up to {_named(lap)}: {shown(total)}"))
        rows.append(f"{shown(used(lap))}, in all {shown(total)}")
    near = limit is not None and total >= limit / 4  # a limit far above would press the line to the floor
    of = f" of {shown(limit)} allowed" if limit else ""
    plot = Plot(
        name="used",
        title=f"{what.capitalize()} used",
        described=f"{shown(total)}{of} after {several(len(report.iterations), 'lap')}.",
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


def _named(lap: ReportedLap) -> str:
    return f"lap {lap.number}" if lap.number else "lap 0, the untouched tree"
