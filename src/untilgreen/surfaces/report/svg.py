"""Plots as hand-written SVG: no script and no font; colors come from the page's style."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from msgspec import Struct

from untilgreen.surfaces.report.escaping import in_html

WIDTH, HEIGHT = 420, 210
LEFT, RIGHT, TOP, BOTTOM = 56, 12, 12, 28
MOST_LABELS = 12


class Point(Struct, frozen=True, kw_only=True):
    """One lap in a plot."""

    lap: int
    value: float
    title: str
    """Its tooltip."""
    marked: bool = False


class Plot(Struct, frozen=True, kw_only=True):
    """What a plot shows, and how its axis is written."""

    name: str
    title: str
    described: str
    """The plot in one sentence, for screen readers."""
    points: Sequence[Point]
    shown: Callable[[float], str]
    top: float | None = None
    """The highest value of the axis, if known."""
    limit: float | None = None
    limit_named: str = ""


def line(plot: Plot) -> str:
    """A line from lap to lap, with the area below it."""
    scale = _Scale(plot)
    dots = [(scale.x(place), scale.y(point.value)) for place, point in enumerate(plot.points)]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in dots)
    floor = scale.y(0)
    area = f"{dots[0][0]:.1f},{floor:.1f} {path} {dots[-1][0]:.1f},{floor:.1f}"
    drawn = [f'<polygon class="area" points="{area}"/>', f'<polyline class="line" points="{path}"/>']
    for (x, y), point in zip(dots, plot.points, strict=True):
        kind = "dot best" if point.marked else "dot"
        radius = 5 if point.marked else 3.5
        drawn.append(
            f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="{radius}">'
            f"<title>{in_html(point.title)}</title></circle>"
        )
    return _framed(plot, scale, drawn)


def bars(plot: Plot) -> str:
    """A bar for each lap."""
    scale, drawn = _Scale(plot), []
    wide = min(36.0, 0.7 * scale.step)
    for place, point in enumerate(plot.points):
        x, y = scale.x(place), scale.y(point.value)
        kind = "bar best" if point.marked else "bar"
        drawn.append(
            f'<rect class="{kind}" x="{x - wide / 2:.1f}" y="{y:.1f}" width="{wide:.1f}" '
            f'height="{max(0.0, scale.y(0) - y):.1f}"><title>{in_html(point.title)}</title></rect>'
        )
    return _framed(plot, scale, drawn)


class _Scale:
    """From laps and values to coordinates."""

    def __init__(self, plot: Plot) -> None:
        highest = max([point.value for point in plot.points] + ([plot.limit] if plot.limit else []))
        self.top = plot.top or _round_up(highest)
        self.step = (WIDTH - LEFT - RIGHT) / max(1, len(plot.points))

    def x(self, place: int) -> float:
        return LEFT + self.step * (place + 0.5)

    def y(self, value: float) -> float:
        return TOP + (HEIGHT - TOP - BOTTOM) * (1 - min(1.0, value / self.top))


def _framed(plot: Plot, scale: _Scale, drawn: list[str]) -> str:
    name = in_html(plot.name)
    return "\n".join(
        [
            f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-labelledby="{name}-title {name}-text">',
            f'<title id="{name}-title">{in_html(plot.title)}</title>',
            f'<desc id="{name}-text">{in_html(plot.described)}</desc>',
            *_grid(plot, scale),
            *drawn,
            *_limit(plot, scale),
            *_labels(plot, scale),
            "</svg>",
        ]
    )


def _grid(plot: Plot, scale: _Scale) -> list[str]:
    lines = []
    for quarter in range(5):
        value = scale.top * quarter / 4
        y = scale.y(value)
        lines.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        lines.append(
            f'<text class="tick" x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">'
            f"{in_html(plot.shown(value))}</text>"
        )
    return lines


def _labels(plot: Plot, scale: _Scale) -> list[str]:
    every = math.ceil(len(plot.points) / MOST_LABELS)
    return [
        f'<text class="tick" x="{scale.x(place):.1f}" y="{HEIGHT - 10}" text-anchor="middle">'
        f"{point.lap}</text>"
        for place, point in enumerate(plot.points)
        if place % every == 0
    ]


def _limit(plot: Plot, scale: _Scale) -> list[str]:
    if not plot.limit:
        return []
    y = scale.y(plot.limit)
    return [
        f'<line class="limit" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>',
        f'<text class="tick" x="{WIDTH - RIGHT}" y="{y + 14:.1f}" text-anchor="end">'
        f"{in_html(plot.limit_named)}</text>",
    ]


def _round_up(value: float) -> float:
    """The next number that divides well into four."""
    if value <= 0:
        return 1.0
    size = 10.0 ** math.floor(math.log10(value))
    return next(size * step for step in (1, 2, 4, 8, 10, 20) if size * step >= value)
