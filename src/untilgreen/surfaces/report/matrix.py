"""The gates × laps picture as a table, and below it every complaint × laps."""

from __future__ import annotations

from untilgreen.core.model import Verdict
from untilgreen.core.units import several
from untilgreen.surfaces.report.content import Report, ReportedGate, ReportedLap
from untilgreen.surfaces.report.marks import in_html, in_words, mark

MOST_COMPLAINTS = 100
_TONES = {"pass": "good", "fail": "bad", "error": "odd"}


def matrix(report: Report) -> str:
    """A row for each gate, a column for each lap; signs and words besides colours."""
    best = report.best.lap if report.best else None
    head = "".join(f'<th scope="col"{_kept(lap.number == best)}>{lap.number}</th>' for lap in report.laps)
    rows = [_row(gate, report.laps) for gate in report.gates]
    scores = "".join(f"<td>{lap.score:.2f}</td>" for lap in report.laps)
    return (
        '<div class="wide" tabindex="0" role="region" aria-label="Gates by lap"><table class="matrix">'
        '<caption class="unseen">What each gate said in each lap; lap 0 is the untouched tree</caption>'
        f'<thead><tr><th scope="col">lap</th>{head}</tr></thead><tbody>{"".join(rows)}'
        f'<tr><th scope="row">score</th>{scores}</tr></tbody></table></div>'
        '<p class="key">✓ passes, ✕ fails with so many complaints, ! could not tell, · did not run, ~ flaky; '
        "outlined: was green before; underlined: the best lap</p>"
    )


def complaints(report: Report) -> list[str]:
    """For each gate that ever complained, which complaint stood in which lap."""
    return [table for gate in report.gates if (table := _complaints(gate, report.laps))]


def _row(gate: ReportedGate, laps: tuple[ReportedLap, ...]) -> str:
    cells, green = [], False
    for lap in laps:
        verdict = lap.verdicts.get(gate.name)
        cells.append(_cell(verdict, broke=green and verdict is not None and verdict.status == "fail"))
        green = verdict.status == "pass" if verdict and verdict.status != "skip" else green
    note = "" if gate.required else ' <span class="faint">(not required)</span>'
    return f'<tr><th scope="row">{in_html(gate.name)}{note}</th>{"".join(cells)}</tr>'


def _cell(verdict: Verdict | None, *, broke: bool) -> str:
    tone = _TONES.get(verdict.status, "faint") if verdict else "faint"
    said = in_words(verdict) + (", was green before" if broke else "")
    return (
        f'<td class="{tone}{" broke" if broke else ""}" title="{in_html(said)}">'
        f'<span aria-hidden="true">{in_html(mark(verdict))}</span>'
        f'<span class="unseen">{in_html(said)}</span></td>'
    )


def _complaints(gate: ReportedGate, laps: tuple[ReportedLap, ...]) -> str:
    standing = [
        lap.verdicts[gate.name].failing(gate.name) if gate.name in lap.verdicts else frozenset()
        for lap in laps
    ]
    every = sorted(frozenset[str]().union(*standing))
    named = [each for each in every if not each.startswith(f"{gate.name}: #")]
    if not named:
        return ""
    head = "".join(f'<th scope="col">{lap.number}</th>' for lap in laps)
    rows = "".join(
        f'<tr><th scope="row">{in_html(each.removeprefix(f"{gate.name}: "))}</th>'
        + "".join(_standing(each in there) for there in standing)
        + "</tr>"
        for each in named[:MOST_COMPLAINTS]
    )
    more = f"<p>{len(named) - MOST_COMPLAINTS} more are left out.</p>" if len(named) > MOST_COMPLAINTS else ""
    return (
        f"<details><summary>{several(len(named), 'complaint')} of {in_html(gate.name)}, lap by lap</summary>"
        '<div class="wide" tabindex="0" role="region" aria-label="Complaints by lap">'
        '<table class="matrix fine">'
        f'<thead><tr><th scope="col">complaint</th>{head}</tr></thead><tbody>{rows}</tbody></table></div>'
        f"{more}</details>"
    )


def _standing(there: bool) -> str:
    if not there:
        return '<td><span class="unseen">no</span></td>'
    return '<td class="bad"><span aria-hidden="true">✕</span><span class="unseen">yes</span></td>'


def _kept(best: bool) -> str:
    return ' class="kept"' if best else ""
