"""The report as one HTML file: no script, no network, and foreign text only as text."""

from __future__ import annotations

from untilgreen.core.values.units import show_duration, show_score
from untilgreen.surfaces.report.content import Report, when
from untilgreen.surfaces.report.css import POLICY, STYLE
from untilgreen.surfaces.report.escaping import in_html, lines_in_html
from untilgreen.surfaces.report.gates_table_html import finding_tables, matrix
from untilgreen.surfaces.report.lap_html import lap_details, shown_diff
from untilgreen.surfaces.report.plots import Figure, figures
from untilgreen.surfaces.why.evidence import decided
from untilgreen.surfaces.why.text import confidence, limit_words, rung_words, signal_words, unanswered_words

_AS_CARD = ' class="card"'
NEAR = 0.9
"""The share of a limit above which it is highlighted."""
_TONE = {"converged": "good", "accepted": "good", "claimed": "odd", "exhausted": "odd"}


def page(report: Report) -> str:
    """The whole file, laid out as the screen of a run on the page of `serve`."""
    title = f"{report.status}: {in_html(report.title)}"
    body = [
        *_head(report),
        '<div class="columns"><div>',
        *_section("Gates by lap", matrix(report) if report.laps else "<p>No lap has finished yet.</p>"),
        *finding_tables(report),
        *_section("Curves", _plots(figures(report))),
        *_section("Why", _why(report)),
        *_section("Laps", "\n".join(lap_details(report, lap) for lap in report.laps)),
        *_section("All changes", _changes(report)),
        "</div><aside>",
        _figures(report),
        _next_steps(report),
        _about(report),
        "</aside></div>",
    ]
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
            '<meta name="referrer" content="no-referrer">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{title}</title>",
            f"<style>{STYLE}</style>",
            "</head>",
            "<body>",
            "<main>",
            *body,
            "</main>",
            "</body>",
            "</html>",
            "",
        ]
    )


def _section(title: str, content: str) -> list[str]:
    return [f"<section><h2>{title}</h2>", content, "</section>"] if content else []


def _head(report: Report) -> list[str]:
    tone = _TONE.get(report.status, "bad" if report.outcome else "odd")
    badge = f'<span class="badge {tone}">{in_html(report.status)}</span>'
    return [
        f'<div class="title"><h1>{in_html(report.title)}</h1>{badge}</div>',
        f'<p class="lead">{in_html(report.reason)}</p>',
    ]


def _figures(report: Report) -> str:
    """Score, gates and what was used of each limit."""
    overall = report.progress
    limits = {each.limit: each for each in report.why.limits}
    some = " (some turns unknown)" if report.unpriced and report.cost is not None else ""
    cost = "unknown" if report.cost is None else f"${report.cost:.2f}"
    used = [
        ("laps", str(len(report.agent_laps)), "iterations"),
        ("time", show_duration(report.elapsed), "time"),
        (f"cost{some}", cost, "cost"),
        ("tokens", "unknown" if report.tokens is None else f"{report.tokens:,}", "tokens"),
    ]
    rows = [
        _meter("score", show_score(overall.overall.score), share=overall.overall.score, goal=True),
        _meter(
            "gates green",
            f"{overall.passed}",
            most=f"{overall.total}",
            share=overall.passed / overall.total if overall.total else None,
            goal=True,
        ),
    ]
    for name, value, key in used:
        limit = limits.get(key)
        rows.append(
            _meter(name, value, most=limit.most if limit else "", share=limit.share if limit else None)
        )
    return f'<section class="card figures"><dl class="meters">{"".join(rows)}</dl></section>'


def _meter(name: str, used: str, *, most: str = "", share: float | None = None, goal: bool = False) -> str:
    of = f'<span class="faint"> of {in_html(most)}</span>' if most else ""
    tone = "near" if share is not None and share > NEAR and not goal else "used"
    bar = (
        ""
        if share is None
        else '<svg viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">'
        '<rect class="groove" width="100" height="4" rx="2" />'
        f'<rect class="{tone}" width="{100 * min(1.0, max(0.0, share)):.1f}" height="4" rx="2" /></svg>'
    )
    unknown = ' class="unknown"' if used == "unknown" else ""
    return f'<div class="meter"><dt>{in_html(name)}</dt><dd{unknown}>{in_html(used)}{of}</dd>{bar}</div>'


def _plots(drawn: list[Figure]) -> str:
    return '<div class="plots">' + "\n".join(map(_figure, drawn)) + "</div>" if drawn else ""


def _figure(figure: Figure) -> str:
    head = "".join(f'<th scope="col">{in_html(name)}</th>' for name in figure.columns)
    rows = "".join(
        "<tr>" + "".join(f"<td>{in_html(each)}</td>" for each in row) + "</tr>" for row in figure.rows
    )
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    return (
        f'<figure class="card"><figcaption>{in_html(figure.plot.title)}</figcaption>{figure.drawn}'
        f"<p>{in_html(figure.plot.described)}</p>{_folded('As a table', table)}</figure>"
    )


def _why(report: Report) -> str:
    why = report.why
    parts = [
        ("What the detectors saw", [signal_words(each) for each in why.signals]),
        ("What was tried", [rung_words(each) for each in why.tried]),
        ("Asked for a person", unanswered_words(why)),
        ("What has to change", list(why.change)),
        ("Limits", [limit_words(each) for each in why.limits]),
    ]
    lists = [f"<div><h3>{title}</h3>{_list(entries)}</div>" for title, entries in parts if entries]
    place = f"after lap {why.lap}" if why.lap else "before lap 1"
    said = f"<p>Decision {place}: {in_html(decided(why.decision))}{in_html(confidence(why))}.</p>"
    return "\n".join(['<div class="card stack">', said, *lists, "</div>"])


def _next_steps(report: Report) -> str:
    ways = "".join(
        f"<dt>{in_html(way.what)}</dt><dd><code>{in_html(way.command)}</code></dd>" for way in report.why.ways
    )
    return f'<section class="card"><h2>Next steps</h2><dl class="steps">{ways}</dl></section>'


def _list(entries: list[str]) -> str:
    return '<ul class="plainly">' + "".join(f"<li>{in_html(each)}</li>" for each in entries) + "</ul>"


def _changes(report: Report) -> str:
    if report.missing:
        return f"<p>{in_html(report.missing)}</p>"
    if not report.diff.text:
        return "<p>No files changed.</p>"
    return _folded(
        "Diff from the baseline to the final files",
        shown_diff(report.diff),
        card=True,
    )


def _folded(title: str, content: str, *, card: bool = False) -> str:
    return f"<details{_AS_CARD if card else ''}><summary>{in_html(title)}</summary>{content}</details>"


def _about(report: Report) -> str:
    facts = [
        ("run", report.run),
        ("started", when(report.started)),
        ("last event", when(report.ended)),
        ("agents", ", ".join(report.agents)),
        ("strategy", report.strategy),
        *((f"label {name}", value) for name, value in report.labels.items()),
        ("final snapshot", report.final_snapshot or ""),
        ("journal head", report.head),
        ("written by", report.tool),
    ]
    rows = "".join(f"<dt>{in_html(name)}</dt><dd>{in_html(value)}</dd>" for name, value in facts if value)
    verify = f"untilgreen verify {report.run} --head {report.head}"
    whole = _folded("The whole task", f'<pre class="text">{lines_in_html(report.task.strip())}</pre>')
    return (
        f'<section class="card"><h2>About</h2><dl class="facts">{rows}</dl>{whole}'
        f"<p>Verify it on the machine that has the run: <code>{in_html(verify)}</code></p></section>"
    )
