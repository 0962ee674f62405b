"""The gates × laps table: how a run went, at a glance."""

from __future__ import annotations

from collections.abc import Sequence

from untilgreen.core.values.model import Verdict
from untilgreen.core.values.state import Lap, RunState
from untilgreen.core.values.units import several, show_score
from untilgreen.surfaces.text.event_lines import ASCII_MARKS, MARKS
from untilgreen.surfaces.text.safe_text import columns_of, padded, short

LONGEST_NAME = 24


def gates_by_lap(state: RunState, *, width: int = 80, ascii_only: bool = False) -> str:
    """A row per gate, a column per lap; as many of the latest laps as fit."""
    laps = state.baseline_and_laps
    if not laps:
        return "no lap has finished yet"
    names = [short(gate.name, LONGEST_NAME) for gate in state.plan.gates]
    margin = max(map(columns_of, (*names, "score"))) + 2
    cells = {lap.number: _column(state, lap, ascii_only) for lap in laps}
    wide = {lap.number: max(len(str(lap.number)), *map(len, cells[lap.number])) for lap in laps}
    shown = _that_fit(laps, wide, width - margin)
    rows = [["lap", *(str(lap.number) for lap in shown)]]
    for place, name in enumerate((*names, "score")):
        rows.append([name, *(cells[lap.number][place] for lap in shown)])
    hidden = len(laps) - len(shown)
    lines = [
        padded(row[0], margin)
        + " ".join(cell.ljust(wide[lap.number]) for cell, lap in zip(row[1:], shown, strict=True))
        for row in rows
    ]
    note = [f"({several(hidden, 'earlier lap')} not shown)"] if hidden else []
    return "\n".join([*(line.rstrip() for line in lines), *note])


def _column(state: RunState, lap: Lap, ascii_only: bool) -> list[str]:
    marks = ASCII_MARKS if ascii_only else MARKS
    column = [_cell(lap.verdicts.get(gate.name), marks) for gate in state.plan.gates]
    return [*column, show_score(lap.score)]


def _cell(verdict: Verdict | None, marks: dict[str, str]) -> str:
    if verdict is None:
        return marks["skip"]
    count = str(verdict.count) if verdict.status == "fail" and verdict.findings else ""
    return marks[verdict.status] + count + ("~" if verdict.flaky else "")


def _that_fit(laps: Sequence[Lap], wide: dict[int, int], room: int) -> list[Lap]:
    shown: list[Lap] = []
    for lap in reversed(laps):
        room -= wide[lap.number] + 1
        if room < 0 and shown:
            break
        shown.insert(0, lap)
    return shown
