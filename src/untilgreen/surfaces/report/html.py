"""One HTML file that needs nothing else: no script, no network, and the text of others only as text."""

from __future__ import annotations

from collections.abc import Iterable

from untilgreen.core.units import show_duration
from untilgreen.surfaces.report.content import Report, when
from untilgreen.surfaces.report.laps import lap_details, shown_diff
from untilgreen.surfaces.report.marks import in_html, lines_in_html
from untilgreen.surfaces.report.matrix import complaints, matrix
from untilgreen.surfaces.report.plots import Figure, figures
from untilgreen.surfaces.report.style import POLICY, STYLE
from untilgreen.surfaces.why.reasons import decided
from untilgreen.surfaces.why.words import confidence, limit_words, rung_words, signal_words

_TONE = {"converged": "good", "accepted": "good", "claimed": "odd", "exhausted": "odd"}


def page(report: Report) -> str:
    """The whole file."""
    title = f"{report.status}: {in_html(report.title)}"
    body = [
        *_head(report),
        *_section("Gates by lap", matrix(report) if report.laps else "<p>No lap is over yet.</p>"),
        *complaints(report),
        *_section("Progress and what it took", _plots(figures(report))),
        *_section("Why", _why(report)),
        *_section("Laps", "\n".join(lap_details(report, lap) for lap in report.laps)),
        *_section("All changes", _changes(report)),
        *_foot(report),
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
    rest = report.task.strip()
    more = (
        []
        if rest == report.title
        else [_folded("The whole task", f'<pre class="text">{lines_in_html(rest)}</pre>')]
    )
    return [
        f"<h1>{in_html(report.title)}</h1>",
        f'<p><span class="badge {tone}">{in_html(report.status)}</span> {in_html(report.reason)}</p>',
        *more,
        '<div class="cards">',
        *(f"<div><b>{in_html(value)}</b>{name}</div>" for name, value in _figures_in_words(report)),
        "</div>",
    ]


def _figures_in_words(report: Report) -> Iterable[tuple[str, str]]:
    overall = report.progress
    yield "laps", str(len(report.iterations))
    yield "gates green", f"{overall.passed} of {overall.total}"
    yield "score", f"{overall.overall.score:.2f}"
    yield "driven", show_duration(report.elapsed)
    if report.cost:
        yield "cost" + (" (not all turns told)" if report.unpriced else ""), f"${report.cost:.2f}"
    if report.tokens:
        yield "tokens", f"{report.tokens:,}"


def _plots(drawn: list[Figure]) -> str:
    return '<div class="plots">' + "\n".join(map(_figure, drawn)) + "</div>" if drawn else ""


def _figure(figure: Figure) -> str:
    head = "".join(f'<th scope="col">{in_html(name)}</th>' for name in figure.columns)
    rows = "".join(
        "<tr>" + "".join(f"<td>{in_html(each)}</td>" for each in row) + "</tr>" for row in figure.rows
    )
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    return (
        f"<figure><figcaption>{in_html(figure.plot.title)}</figcaption>{figure.drawn}"
        f"<p>{in_html(figure.plot.described)}</p>{_folded('As a table', table)}</figure>"
    )


def _why(report: Report) -> str:
    why = report.why
    parts = [
        ("What the detectors saw", [signal_words(each) for each in why.signals]),
        ("What was tried against it", [rung_words(each) for each in why.tried]),
        ("What would have to change", list(why.change)),
        ("Limits", [limit_words(each) for each in why.limits]),
    ]
    lists = [f"<h3>{title}</h3>{_list(entries)}" for title, entries in parts if entries]
    ways = "".join(
        f"<dt>{in_html(way.what)}</dt><dd><code>{in_html(way.command)}</code></dd>" for way in why.ways
    )
    place = f"after lap {why.lap}" if why.lap else "before lap 1"
    said = f"<p>Decided {place}: {in_html(decided(why.decision))}{in_html(confidence(why))}.</p>"
    return "\n".join([said, *lists, f'<h3>How to go on</h3><dl class="ways">{ways}</dl>'])


def _list(entries: list[str]) -> str:
    return "<ul>" + "".join(f"<li>{in_html(each)}</li>" for each in entries) + "</ul>"


def _changes(report: Report) -> str:
    if report.missing:
        return f"<p>{in_html(report.missing)}</p>"
    if not report.diff:
        return "<p>No file was changed.</p>"
    return _folded(
        "The difference between the untouched and the final files",
        shown_diff(report.diff, report.diff_left_out),
    )


def _folded(title: str, content: str) -> str:
    return f"<details><summary>{in_html(title)}</summary>{content}</details>"


def _foot(report: Report) -> list[str]:
    facts = [
        ("run", report.run),
        ("started", when(report.started)),
        ("last event", when(report.ended)),
        ("agents", ", ".join(report.agents)),
        ("strategy", report.strategy),
        *((f"label {name}", value) for name, value in report.labels.items()),
        ("final tree", report.final_snapshot or ""),
        ("journal head", report.head),
        ("written by", report.tool),
    ]
    rows = "".join(f"<dt>{in_html(name)}</dt><dd>{in_html(value)}</dd>" for name, value in facts if value)
    verify = f"untilgreen verify {report.run} --head {report.head}"
    return [
        f'<footer><dl class="facts">{rows}</dl>',
        f"<p>Check it where the run is kept: <code>{in_html(verify)}</code></p></footer>",
    ]
