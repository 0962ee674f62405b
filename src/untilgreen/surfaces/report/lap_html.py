"""One lap of the HTML report: the agent's reply, the verdicts, the decision, the diff."""

from __future__ import annotations

from untilgreen.core.values.units import show_duration, show_score
from untilgreen.surfaces.json.lap import LapView
from untilgreen.surfaces.report.content import Diff, Report, decision_line
from untilgreen.surfaces.report.escaping import in_html, in_words, lines_in_html, mark
from untilgreen.surfaces.text.event_lines import agent_words
from untilgreen.surfaces.text.safe_text import short
from untilgreen.surfaces.why.text import signal_words

MOST_FILES = 50


def lap_details(report: Report, lap: LapView) -> str:
    """A lap, folded; its summary line has the essentials."""
    signs = " ".join(mark(lap.verdicts.get(gate.name)) for gate in report.gates)
    name = f"Lap {lap.number}" if lap.number else "Lap 0, the baseline"
    best = " (best)" if report.best and report.best.lap == lap.number else ""
    parts = [
        _facts(lap),
        _files(lap),
        _text("Reply", lap.reply),
        *(_verdict(lap, gate.name) for gate in report.gates),
        _text("What the detectors saw", "\n".join(map(signal_words, lap.signals))),
        _diff(report.diffs.get(lap.number)),
    ]
    return (
        f'<details class="card"><summary><b>{name}</b>{best}'
        f" · score {show_score(lap.score)} · {in_html(signs)}"
        f' · <span class="faint">{in_html(short(decision_line(lap), 140))}</span></summary>'
        f"{''.join(parts)}</details>"
    )


def shown_diff(diff: Diff) -> str:
    """A unified diff, line by line."""
    lines = "\n".join(
        f"<span{_kind(line)}>{line or ' '}</span>" for line in lines_in_html(diff.text).splitlines()
    )
    more = f'<p class="faint">{diff.left_out:,} more characters: see `untilgreen diff`.</p>'
    return f'<pre class="patch">{lines}</pre>' + (more if diff.left_out else "")


def _kind(line: str) -> str:
    if line.startswith(("diff ", "+++ ", "--- ", "index ")):
        return ' class="file"'
    if line.startswith("@@"):
        return ' class="at"'
    if line.startswith("+"):
        return ' class="add"'
    return ' class="cut"' if line.startswith("-") else ""


def _facts(lap: LapView) -> str:
    facts = [
        ("agent", agent_words(lap.agent)),
        ("took", show_duration(max(0.0, lap.duration))),
        ("tokens", f"{lap.tokens:,}" if lap.tokens else ""),
        ("cost", f"${lap.cost:.2f}" if lap.cost else ""),
        ("remedy", lap.remedy or ""),
        ("turn failed", lap.error or ""),
        ("claim", "the agent claimed to be done" if lap.claim else ""),
        ("snapshot", (lap.snapshot or "")[:12]),
    ]
    rows = "".join(f"<dt>{name}</dt><dd>{in_html(value)}</dd>" for name, value in facts if value)
    return f'<dl class="facts">{rows}</dl>'


def _files(lap: LapView) -> str:
    if not lap.changes:
        return ""
    rows = "".join(
        f"<li>{in_html(each.status)} <code>{in_html(each.path)}</code></li>"
        for each in lap.changes[:MOST_FILES]
    )
    more = len(lap.changes) - MOST_FILES
    left = f"<li>and {more} more</li>" if more > 0 else ""
    return f"<h3>Files changed</h3><ul>{rows}{left}</ul>"


def _verdict(lap: LapView, gate: str) -> str:
    verdict = lap.verdicts.get(gate)
    if verdict is None or verdict.status in ("skip", "pass"):
        return ""
    excerpt = verdict.excerpt.strip()
    shown = f'<pre class="text">{lines_in_html(excerpt)}</pre>' if excerpt else ""
    return f"<h3>{in_html(mark(verdict))} {in_html(gate)}: {in_html(in_words(verdict))}</h3>{shown}"


def _text(title: str, text: str) -> str:
    return f'<h3>{title}</h3><pre class="text">{lines_in_html(text.strip())}</pre>' if text.strip() else ""


def _diff(diff: Diff | None) -> str:
    return f"<h3>Changes of this lap</h3>{shown_diff(diff)}" if diff is not None and diff.text else ""
