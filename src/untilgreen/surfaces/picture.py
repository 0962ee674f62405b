"""The gates × laps picture: how a run went, at one look."""

from __future__ import annotations

from untilgreen.core.model import Verdict
from untilgreen.core.state import Iteration, RunState
from untilgreen.surfaces.render import ASCII_MARKS, MARKS
from untilgreen.surfaces.text import padded, places, short

LONGEST_NAME = 24


def laps_of(state: RunState) -> list[Iteration]:
    """The untouched tree, where it was looked at, and every lap that is over."""
    return [*([state.baseline] if state.baseline else []), *state.iterations]


def picture(state: RunState, *, width: int = 80, ascii_only: bool = False) -> str:
    """A row for each gate, a column for each lap; the latest laps that fit."""
    laps = laps_of(state)
    if not laps:
        return "no lap is over yet"
    names = [short(gate.name, LONGEST_NAME) for gate in state.plan.gates]
    margin = max(map(places, (*names, "score"))) + 2
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
    note = [f"({hidden} earlier laps not shown)"] if hidden else []
    return "\n".join([*(line.rstrip() for line in lines), *note])


def _column(state: RunState, lap: Iteration, ascii_only: bool) -> list[str]:
    marks = ASCII_MARKS if ascii_only else MARKS
    column = [_cell(lap.verdicts.get(gate.name), marks) for gate in state.plan.gates]
    return [*column, f"{lap.score:.2f}"]


def _cell(verdict: Verdict | None, marks: dict[str, str]) -> str:
    if verdict is None:
        return marks["skip"]
    count = str(verdict.count) if verdict.status == "fail" and verdict.findings else ""
    return marks[verdict.status] + count + ("~" if verdict.flaky else "")


def _that_fit(laps: list[Iteration], wide: dict[int, int], room: int) -> list[Iteration]:
    shown: list[Iteration] = []
    for lap in reversed(laps):
        room -= wide[lap.number] + 1
        if room < 0 and shown:
            break
        shown.insert(0, lap)
    return shown
