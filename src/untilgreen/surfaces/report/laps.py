"""One lap of the HTML report: what the agent did and said, what the gates said, what followed."""

from __future__ import annotations

from untilgreen.core.units import show_duration
from untilgreen.surfaces.render import agent_words
from untilgreen.surfaces.report.content import Report, ReportedLap
from untilgreen.surfaces.report.marks import in_html, in_words, lines_in_html, mark
from untilgreen.surfaces.text import short

MOST_FILES = 50


def lap_details(report: Report, lap: ReportedLap) -> str:
    """A lap, folded; its first line has what one looks for."""
    signs = " ".join(mark(lap.verdicts.get(gate.name)) for gate in report.gates)
    name = f"Lap {lap.number}" if lap.number else "Lap 0, the untouched tree"
    best = " (the best)" if report.best and report.best.lap == lap.number else ""
    parts = [
        _facts(lap),
        _files(lap),
        _text("What the agent said", lap.reply),
        *(_verdict(lap, gate.name) for gate in report.gates),
        _text("What the detectors saw", "\n".join(lap.signals)),
        _diff(lap),
    ]
    return (
        f"<details><summary><b>{name}</b>{best} · score {lap.score:.2f} · {in_html(signs)}"
        f' · <span class="faint">{in_html(short(lap.decision, 140))}</span></summary>'
        f"{''.join(parts)}</details>"
    )


def shown_diff(text: str, left_out: int) -> str:
    """A unified diff, line by line."""
    lines = "\n".join(f"<span{_kind(line)}>{line or ' '}</span>" for line in lines_in_html(text).splitlines())
    more = f'<p class="faint">{left_out:,} characters more are left out; `untilgreen diff` shows all.</p>'
    return f'<pre class="diff">{lines}</pre>' + (more if left_out else "")


def _kind(line: str) -> str:
    if line.startswith(("diff ", "+++ ", "--- ", "index ")):
        return ' class="file"'
    if line.startswith("@@"):
        return ' class="at"'
    if line.startswith("+"):
        return ' class="add"'
    return ' class="cut"' if line.startswith("-") else ""


def _facts(lap: ReportedLap) -> str:
    facts = [
        ("agent", agent_words(lap.agent)),
        ("took", show_duration(max(0.0, lap.duration))),
        ("tokens", f"{lap.tokens:,}" if lap.tokens else ""),
        ("cost", f"${lap.cost:.2f}" if lap.cost else ""),
        ("remedy", lap.remedy or ""),
        ("turn ended", lap.error or ""),
        ("claim", "the agent claimed to be done" if lap.claim else ""),
        ("tree", (lap.snapshot or "")[:12]),
    ]
    rows = "".join(f"<dt>{name}</dt><dd>{in_html(value)}</dd>" for name, value in facts if value)
    return f'<dl class="facts">{rows}</dl>'


def _files(lap: ReportedLap) -> str:
    if not lap.changes:
        return ""
    rows = "".join(
        f"<li>{in_html(each.status)} <code>{in_html(each.path)}</code></li>"
        for each in lap.changes[:MOST_FILES]
    )
    more = len(lap.changes) - MOST_FILES
    left = f"<li>and {more} more</li>" if more > 0 else ""
    return f"<h3>Files changed</h3><ul>{rows}{left}</ul>"


def _verdict(lap: ReportedLap, gate: str) -> str:
    verdict = lap.verdicts.get(gate)
    if verdict is None or verdict.status in ("skip", "pass"):
        return ""
    excerpt = verdict.excerpt.strip()
    shown = f'<pre class="text">{lines_in_html(excerpt)}</pre>' if excerpt else ""
    return f"<h3>{in_html(mark(verdict))} {in_html(gate)} {in_html(in_words(verdict))}</h3>{shown}"


def _text(title: str, text: str) -> str:
    return f'<h3>{title}</h3><pre class="text">{lines_in_html(text.strip())}</pre>' if text.strip() else ""


def _diff(lap: ReportedLap) -> str:
    return f"<h3>Changes of this lap</h3>{shown_diff(lap.diff, lap.diff_left_out)}" if lap.diff else ""
