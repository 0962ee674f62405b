"""The report in Markdown, for a pull request or a chat; foreign text is always code."""

from __future__ import annotations

from untilgreen.core.values.units import several, show_duration, show_score
from untilgreen.regex import regex
from untilgreen.surfaces.json.lap import LapView
from untilgreen.surfaces.report.content import Report, decision_line, when
from untilgreen.surfaces.report.escaping import cell, code, fenced, mark
from untilgreen.surfaces.text.event_lines import agent_words
from untilgreen.surfaces.why.evidence import decided
from untilgreen.surfaces.why.text import rung_words, signal_words, unanswered_words

MOST_LAPS = 30
MOST_DIFF = 20_000
_PLAIN = regex(r"(?!.*(?:www\.|://))[A-Za-z0-9 ,;:'.…%$-]*")
"""Text that no Markdown reader takes for markup or a link."""


def document(report: Report) -> str:
    """The whole report."""
    return "\n".join([*summary(report), *_laps(report), *_changes(report), *_foot(report), ""])


def summary(report: Report) -> list[str]:
    """One screen: the outcome, the gates by lap, why, the next steps."""
    overall = report.progress
    figures = [
        several(len(report.agent_laps), "lap"),
        f"{overall.passed} of {overall.total} gates green",
        f"score {show_score(overall.overall.score)}",
        show_duration(report.elapsed),
        "cost unknown" if report.cost is None else f"${report.cost:.2f}",
        "tokens unknown" if report.tokens is None else f"{report.tokens:,} tokens",
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
        return ["No lap has finished yet."]
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
        "| score | " + " | ".join(show_score(lap.score) for lap in laps) + " |",
    ]
    return [*rows, "", f"({hidden} earlier laps are not shown.)"] if hidden else rows


def _why(report: Report) -> list[str]:
    why = report.why
    place = f"after lap {why.lap}" if why.lap else "before lap 1"
    sure = f"confidence {why.decision.confidence:.2f}" if why.decision else "no decision yet"
    lines = [f"Decision {place}: {_plain(decided(why.decision))} (strategy {code(why.strategy)}, {sure})."]
    lines += [f"Reason: {code(why.reason, 400)}", ""]
    lines += [f"- seen: {code(signal_words(each), 300)}" for each in why.signals]
    lines += [f"- tried: {code(rung_words(each))}" for each in why.tried]
    lines += [f"- asked for a person: {code(each)}" for each in unanswered_words(why)]
    for gate in why.red:
        first = ", ".join(code(each, 80) for each in gate.first[:3])
        lines.append(f"- failing: {code(gate.gate)}, {gate.findings} failing{': ' if first else ''}{first}")
    lines += [f"- {_plain(each)}" for each in why.change]
    lines += ["", "Next steps:", ""]
    return lines + [f"- {_plain(way.what)}: {code(way.command, 1000)}" for way in why.ways]


def _plain(text: str) -> str:
    """Our own sentence; as code if a name in it, which is foreign text, could be markup."""
    return text if _PLAIN.fullmatch(text) else code(text, 400)


def _laps(report: Report) -> list[str]:
    if not report.agent_laps:
        return []
    rows = [_lap(lap) for lap in report.agent_laps]
    return [
        "## Laps",
        "",
        "| lap | agent | score | findings | files | took | decision |",
        "|---|---|---|---|---|---|---|",
        *rows,
        "",
    ]


def _lap(lap: LapView) -> str:
    columns = [
        str(lap.number),
        cell(agent_words(lap.agent), 40),
        show_score(lap.score),
        str(lap.findings),
        str(len(lap.changes)),
        show_duration(max(0.0, lap.duration)),
        cell(decision_line(lap), 120),
    ]
    return f"| {' | '.join(columns)} |"


def _changes(report: Report) -> list[str]:
    if report.missing:
        return ["## Changes", "", _plain(report.missing), ""]
    if not report.diff.text:
        return []
    cut = len(report.diff.text) + report.diff.left_out - MOST_DIFF
    more = [f"({cut:,} more characters are not shown.)", ""] if cut > 0 else []
    return ["## Changes", "", fenced(report.diff.text[:MOST_DIFF], "diff"), "", *more]


def _foot(report: Report) -> list[str]:
    return [
        "---",
        "",
        f"Run `{report.run}`, {when(report.started)} to {when(report.ended)}, journal head `{report.head}`.",
        f"Verify it on the machine that has the run: `untilgreen verify {report.run} --head {report.head}`",
    ]
