"""The report in Markdown, for a pull request or a chat; the text of others stands in code, where it rests."""

from __future__ import annotations

import re

from untilgreen.core.units import several, show_duration
from untilgreen.surfaces.render import agent_words
from untilgreen.surfaces.report.content import Report, ReportedLap, when
from untilgreen.surfaces.report.marks import cell, code, fenced, mark
from untilgreen.surfaces.why.words import rung_words, signal_words

MOST_LAPS = 30
MOST_DIFF = 20_000
_PLAIN = re.compile(r"(?!.*(?:www\.|://))[A-Za-z0-9 ,;:'.…%$-]*")
"""What no reader of Markdown takes for markup or an address."""


def document(report: Report) -> str:
    """All of it."""
    return "\n".join([*summary(report), *_laps(report), *_changes(report), *_foot(report), ""])


def summary(report: Report) -> list[str]:
    """What one screen holds: the end, the picture, why, how to go on."""
    overall = report.progress
    figures = [
        several(len(report.iterations), "lap"),
        f"{overall.passed} of {overall.total} gates green",
        f"score {overall.overall.score:.2f}",
        show_duration(report.elapsed),
        *([f"${report.cost:.2f}"] if report.cost else []),
        *([f"{report.tokens:,} tokens"] if report.tokens else []),
    ]
    return [
        f"# {code(report.title)}",
        "",
        f"**{report.status}**: {code(report.reason, 400)}",
        "",
        " · ".join(figures),
        "",
        "## Gates by lap",
        "",
        *_matrix(report),
        "",
        "## Why",
        "",
        *_why(report),
        "",
    ]


def _matrix(report: Report) -> list[str]:
    laps = report.laps[-MOST_LAPS:]
    if not laps:
        return ["No lap is over yet."]
    hidden = len(report.laps) - len(laps)
    rows = [
        "| lap | " + " | ".join(str(lap.number) for lap in laps) + " |",
        "|---|" + "---|" * len(laps),
        *(
            f"| {cell(gate.name, 40)} | "
            + " | ".join(mark(lap.verdicts.get(gate.name)) for lap in laps)
            + " |"
            for gate in report.gates
        ),
        "| score | " + " | ".join(f"{lap.score:.2f}" for lap in laps) + " |",
    ]
    return [*rows, "", f"({hidden} earlier laps are not shown.)"] if hidden else rows


def _why(report: Report) -> list[str]:
    why = report.why
    lines: list[str] = []
    lines += [f"- seen: {code(signal_words(each), 300)}" for each in why.signals]
    lines += [f"- tried: {code(rung_words(each))}" for each in why.tried]
    for gate in why.red:
        first = ", ".join(code(each, 80) for each in gate.first[:3])
        lines.append(
            f"- red: {code(gate.gate)}, {several(gate.complaints, 'complaint')}{': ' if first else ''}{first}"
        )
    lines += [f"- {_plain(each)}" for each in why.change]
    lines += ["", "How to go on:", ""]
    return lines + [f"- {_plain(way.what)}: {code(way.command, 1000)}" for way in why.ways]


def _plain(text: str) -> str:
    """Our own sentence; names of gates in it are others' words."""
    return text if _PLAIN.fullmatch(text) else code(text, 400)


def _laps(report: Report) -> list[str]:
    if not report.iterations:
        return []
    rows = [_lap(lap) for lap in report.iterations]
    return [
        "## Laps",
        "",
        "| lap | agent | score | complaints | files | took | what followed |",
        "|---|---|---|---|---|---|---|",
        *rows,
        "",
    ]


def _lap(lap: ReportedLap) -> str:
    columns = [
        str(lap.number),
        cell(agent_words(lap.agent), 40),
        f"{lap.score:.2f}",
        str(lap.complaints),
        str(len(lap.changes)),
        show_duration(max(0.0, lap.duration)),
        cell(lap.decision, 120),
    ]
    return f"| {' | '.join(columns)} |"


def _changes(report: Report) -> list[str]:
    if report.missing:
        return ["## Changes", "", _plain(report.missing), ""]
    if not report.diff:
        return []
    cut = len(report.diff) + report.diff_left_out - MOST_DIFF
    more = [f"({cut:,} characters more are left out.)", ""] if cut > 0 else []
    return ["## Changes", "", fenced(report.diff[:MOST_DIFF], "diff"), "", *more]


def _foot(report: Report) -> list[str]:
    return [
        "---",
        "",
        f"Run `{report.run}`, {when(report.started)} to {when(report.ended)}, journal head `{report.head}`.",
        f"Check it where the run is kept: `untilgreen verify {report.run} --head {report.head}`",
    ]
