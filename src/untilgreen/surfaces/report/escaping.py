"""Foreign text made harmless for each format, and how a verdict reads in all of them."""

from __future__ import annotations

import html
import re

from untilgreen.core.values.model import Verdict
from untilgreen.regex import regex
from untilgreen.surfaces.text.safe_text import inert, inert_lines, short

_NOT_XML = regex(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML cannot hold."""


def in_html(text: str) -> str:
    """One line of foreign text between tags or quotes."""
    return html.escape(writable(inert(text)))


def lines_in_html(text: str) -> str:
    """The same, keeping its lines."""
    return html.escape(writable(inert_lines(text)))


def in_xml(text: str) -> str:
    """Lines of foreign text as XML can hold them; the writer escapes the rest."""
    return _NOT_XML.sub("\ufffd", inert_lines(text))


def writable(text: str) -> str:
    """Without lone surrogates, which UTF-8 cannot hold."""
    return text.encode("utf-8", "replace").decode()


def code(text: str, width: int = 200) -> str:
    """Foreign text as code in Markdown, where it can be no link, mention or markup."""
    line = writable(short(text, width)) or " "
    ticks = "`" * (1 + max((len(run) for run in re.findall(r"`+", line)), default=0))
    pad = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{ticks}{pad}{line}{pad}{ticks}"


def fenced(text: str, language: str = "") -> str:
    """Lines of foreign text as a fenced block that they can't close."""
    body = writable(inert_lines(text)).rstrip("\n")
    longest = max((len(run) for run in re.findall(r"`{3,}", body)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{body}\n{fence}"


def cell(text: str, width: int = 200) -> str:
    """The same in a table, where a bar would begin the next column.

    Readers differ about a bar behind a backslash, so the two are set apart.
    """
    return code(text, width).replace("\\|", "\\ |").replace("|", "\\|")


def mark(verdict: Verdict | None) -> str:
    """A verdict as one sign, with the number of findings behind it."""
    if verdict is None or verdict.status == "skip":
        return "·"
    count = str(verdict.count) if verdict.status == "fail" else ""
    sign = {"pass": "✓", "fail": "✕", "error": "!"}[verdict.status]
    return f"{sign}{count}{'~' if verdict.flaky else ''}"


def in_words(verdict: Verdict | None) -> str:
    """The same in words, for screen readers and titles."""
    if verdict is None or verdict.status == "skip":
        return "did not run"
    flaky = ", flaky" if verdict.flaky else ""
    match verdict.status:
        case "pass":
            return f"passed{flaky}"
        case "fail":
            return f"{verdict.count} failing{flaky}"
        case _:
            return f"broken{flaky}"
