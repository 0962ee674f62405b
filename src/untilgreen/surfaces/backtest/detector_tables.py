"""What the detectors would have stopped, saved and missed, as tables."""

from __future__ import annotations

from collections.abc import Sequence

from untilgreen.backtest.score import LOOKS, Figures, Source
from untilgreen.core.values.units import several
from untilgreen.surfaces.json.lines import Line
from untilgreen.surfaces.text.safe_text import columns_of, padded, short

_LONGEST_NAME = 32


class SourceLine(Line, Source, frozen=True, kw_only=True, tag="source"):
    """One source of recorded runs: `backtest --json`."""


def measures(sources: Sequence[Source]) -> list[str]:
    """A row for each source, and one more where attempts were counted."""
    if not sources:
        return ["The file contains no runs."]
    recall = [f"recall@{late}" for late in LOOKS]
    rows = [["source", "runs", "stops", "successes", "false stops", "95 %", "loops", *recall, "saved"]]
    for source in sources:
        name = short(source.source, _LONGEST_NAME)
        rows.append([name, f"{source.runs:,}", f"{source.stops:,}", *_cells(source.stop)])
        if source.restart is not None:
            rows.append(["  with restarts", "", "", *_cells(source.restart)])
    missing = sum(source.runs - source.labeled for source in sources)
    note = [f"Not measured: {several(missing, 'run')} without a known outcome."] if missing else []
    return [*table(rows), *note]


def table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Columns as wide as they need to be; the first is text, the others are numbers."""
    wide = [max(map(columns_of, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            [
                padded(row[0], wide[0]),
                *(cell.rjust(width) for cell, width in zip(row[1:], wide[1:], strict=True)),
            ]
        ).rstrip()
        for row in rows
    ]


def percent(share: float | None) -> str:
    """A rate for people."""
    return "-" if share is None else f"{share:.1%}"


def _cells(figures: Figures | None) -> list[str]:
    if figures is None:
        return ["-"] * (5 + len(LOOKS))
    between = figures.false_stop_interval
    return [
        f"{figures.successes:,}",
        f"{figures.false_stops:,} = {percent(figures.false_stop_rate)}" if figures.successes else "-",
        f"{percent(between[0])} – {percent(between[1])}" if between else "-",
        f"{figures.loops:,}",
        *map(percent, figures.recall.values()),
        percent(figures.saved),
    ]
