"""The gates × laps matrix as a table, and the findings × laps of each gate."""

from __future__ import annotations

from untilgreen.core.values.model import Verdict
from untilgreen.core.values.units import several, show_score
from untilgreen.surfaces.json.lap import LapView
from untilgreen.surfaces.report.content import Report, ReportedGate
from untilgreen.surfaces.report.escaping import in_html, in_words, mark

MOST_FINDINGS = 100
_BROKE = ' class="broke"'
_TONES = {"pass": "good", "fail": "bad", "error": "odd"}


def matrix(report: Report) -> str:
    """A row for each gate, a column for each lap; with signs and words, not only colors."""
    best = report.best.lap if report.best else None
    head = "".join(f'<th scope="col"{_kept(lap.number == best)}>{lap.number}</th>' for lap in report.laps)
    rows = [_row(gate, report.laps) for gate in report.gates]
    scores = "".join(f'<td class="score">{show_score(lap.score)}</td>' for lap in report.laps)
    return (
        '<div class="card matrix">'
        '<div class="wide" tabindex="0" role="region" aria-label="Gates by lap"><table>'
        '<caption class="unseen">The verdict of each gate in each lap; lap 0 is the baseline</caption>'
        f'<thead><tr><th scope="col">lap</th>{head}</tr></thead><tbody>{"".join(rows)}'
        f'<tr class="scores"><th scope="row">score</th>{scores}</tr></tbody></table></div>'
        '<p class="key"><span><span class="cell good">✓</span> passed</span> '
        '<span><span class="cell bad">3</span> failing</span> '
        '<span><span class="cell odd">!</span> broken</span> '
        '<span><span class="cell faint">·</span> did not run</span> '
        "<span>~ flaky</span> <span>outlined: passed before</span> "
        '<span class="best-key">best lap</span></p></div>'
    )


def finding_tables(report: Report) -> list[str]:
    """For each gate with findings: which finding was there in which lap."""
    return [table for gate in report.gates if (table := _findings(gate, report.laps))]


def _row(gate: ReportedGate, laps: tuple[LapView, ...]) -> str:
    cells, green = [], False
    for lap in laps:
        verdict = lap.verdicts.get(gate.name)
        cells.append(_cell(verdict, broke=green and verdict is not None and verdict.status == "fail"))
        green = verdict.status == "pass" if verdict and verdict.status != "skip" else green
    note = "" if gate.required else ' <span class="faint">(not required)</span>'
    return f'<tr><th scope="row">{in_html(gate.name)}{note}</th>{"".join(cells)}</tr>'


def _cell(verdict: Verdict | None, *, broke: bool) -> str:
    tone = _TONES.get(verdict.status, "faint") if verdict else "faint"
    said = in_words(verdict) + (", passed before" if broke else "")
    return (
        f'<td{_BROKE if broke else ""} title="{in_html(said)}">'
        f'<span class="cell {tone}" aria-hidden="true">{in_html(mark(verdict))}</span>'
        f'<span class="unseen">{in_html(said)}</span></td>'
    )


def _findings(gate: ReportedGate, laps: tuple[LapView, ...]) -> str:
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
        for each in named[:MOST_FINDINGS]
    )
    more = f"<p>{len(named) - MOST_FINDINGS} more are not shown.</p>" if len(named) > MOST_FINDINGS else ""
    return (
        f'<details class="card"><summary>{several(len(named), "finding")} of {in_html(gate.name)}, lap by lap'
        '</summary><div class="matrix fine">'
        '<div class="wide" tabindex="0" role="region" aria-label="Findings by lap"><table>'
        f'<thead><tr><th scope="col">finding</th>{head}</tr></thead><tbody>{rows}</tbody></table></div></div>'
        f"{more}</details>"
    )


def _standing(there: bool) -> str:
    if not there:
        return '<td><span class="unseen">no</span></td>'
    return '<td><span class="cell bad" aria-hidden="true">✕</span><span class="unseen">yes</span></td>'


def _kept(best: bool) -> str:
    return ' class="best"' if best else ""
