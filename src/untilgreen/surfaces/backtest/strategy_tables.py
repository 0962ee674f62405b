"""Your own runs with other strategies: a table, the runs that differ, saved against lost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from string import ascii_uppercase

from untilgreen.backtest.strategies import PastRun, Replayed, Row
from untilgreen.core.values.units import several, show_duration
from untilgreen.surfaces.backtest.detector_tables import percent, table
from untilgreen.surfaces.json.lines import Line
from untilgreen.surfaces.text.safe_text import inert, short

_WIDE, _HIGH = 50, 10
_TITLE = 40
_WHY = 90
_MOST_SHOWN = 20


class StrategyLine(Line, Row, frozen=True, kw_only=True, tag="strategy"):
    """All of your runs with one strategy: `backtest --runs --json`."""


class ReplayLine(Line, Replayed, frozen=True, kw_only=True, tag="replay"):
    """One run that would have gone differently with a strategy."""

    strategy: str


def rows(found: Sequence[Row]) -> list[str]:
    """A row for each strategy, marked with the letter that stands for it in the picture."""
    head = ["strategy", "runs", "ends earlier", "saved laps", "saved money", "saved time", "lost", "unknown"]
    cells = [
        [
            f"{_mark(place)} {inert(row.strategy)}",
            f"{row.runs:,}",
            f"{row.earlier:,}",
            f"{row.saved_laps:,} of {row.laps:,}",
            f"${row.saved_cost:.2f}" if row.cost else "-",
            show_duration(round(row.saved_seconds)),
            f"{row.lost:,} of {row.successes:,}",
            f"{row.unknown:,}",
        ]
        for place, row in enumerate(found)
    ]
    return table([head, *cells])


def sentence(row: Row) -> str:
    """The result of a strategy in one sentence."""
    money = f"${row.saved_cost:.2f} and " if row.cost else ""
    saved = f"{money}{show_duration(round(row.saved_seconds))}"
    lost = f"lost {row.lost:,} of {several(row.successes, 'success', 'successes')}"
    said = f"With {inert(row.strategy)} you would have saved {saved}, and {lost}."
    if not row.unknown:
        return said
    unknown = f"{row.unknown:,} of {several(row.runs, 'run')}"
    return f"{said} Not counted: {unknown}, which would need laps that never happened."


def differences(runs: Sequence[PastRun], replayed: Mapping[str, Sequence[Replayed]]) -> list[str]:
    """The runs in which a strategy would have done something else, and why."""
    lines: list[str] = []
    for run in runs:
        said = [
            f"  {inert(name)}: {_otherwise(each)}"
            for name, all_ in replayed.items()
            for each in all_
            if each.run == run.state.run and not (each.kind == "same" and each.outcome == run.state.outcome)
        ]
        if said:
            ended = f"{run.state.outcome} after lap {len(run.state.laps)}"
            lines += [f"{run.state.run}  {short(run.state.plan.title, _TITLE)}: {ended}", *said]
    more = len(lines) - _MOST_SHOWN
    return [*lines[:_MOST_SHOWN], f"… and {more:,} more lines; --json has them all"] if more > 0 else lines


def picture(found: Sequence[Row]) -> list[str]:
    """Saved to the right, lost upwards: the best strategies are at the bottom right."""
    grid = [[" "] * (_WIDE + 1) for _ in range(_HIGH + 1)]
    top = max((row.lost_share for row in found), default=0.0) or 1.0
    for place, row in enumerate(found):
        x, y = round(row.saved * _WIDE), round(row.lost_share / top * _HIGH)
        grid[_HIGH - y][x] = _mark(place) if grid[_HIGH - y][x] == " " else "*"
    labels = [f"{percent(top):>6}", *[" " * 6] * (_HIGH - 1), f"{percent(0.0):>6}"]
    body = [f"{label} |{''.join(cells).rstrip()}" for label, cells in zip(labels, grid, strict=True)]
    foot = [f"{'':6} +{'-' * _WIDE}", f"{'':7} {'0 % saved':<{_WIDE - 5}}100 %"]
    shared = [f"{'':8}* several in one place"] if any("*" in line for line in body) else []
    return ["  lost", *body, *foot, *shared]


def svg(found: Sequence[Row]) -> str:
    """The same picture for a page; each point has its strategy beside it."""
    top = max((row.lost_share for row in found), default=0.0) or 1.0
    points = "\n".join(_point(place, row, top) for place, row in enumerate(found))
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 400" font-family="sans-serif"
  font-size="12">
<title>What other strategies would have saved and lost</title>
<rect width="640" height="400" fill="#fff"/>
<path d="M60 20V340H600" fill="none" stroke="#444"/>
<text x="330" y="380" text-anchor="middle">saved</text>
<text x="60" y="358" text-anchor="middle">0 %</text><text x="600" y="358" text-anchor="middle">100 %</text>
<text x="52" y="344" text-anchor="end">0 %</text><text x="52" y="28" text-anchor="end">{percent(top)}</text>
<text x="20" y="180" text-anchor="middle" transform="rotate(-90 20 180)">successes lost</text>
{points}
</svg>
"""


def _point(place: int, row: Row, top: float) -> str:
    x, y = 60 + 540 * row.saved, 340 - 312 * row.lost_share / top
    side, anchor = (-8, "end") if row.saved > 0.7 else (8, "start")
    said = f"{_mark(place)} {row.strategy}: {percent(row.saved)} saved, {row.lost} of {row.successes} lost"
    return (
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="#1a7f37"><title>{escape(said)}</title></circle>'
        f'<text x="{x + side:.1f}" y="{y - 6 - 12 * (place % 3):.1f}" text-anchor="{anchor}">'
        f"{escape(inert(row.strategy))}</text>"
    )


def _otherwise(each: Replayed) -> str:
    if each.kind == "unknown":
        where = f"after lap {each.lap} " if each.lap else ""
        return f"needs laps that never happened: {where}{short(each.why, _WHY)}"
    lost = " (lost)" if each.lost else ""
    return f"{each.outcome} after lap {each.lap}{lost}: {short(each.why, _WHY)}"


def _mark(place: int) -> str:
    return ascii_uppercase[place % len(ascii_uppercase)]
