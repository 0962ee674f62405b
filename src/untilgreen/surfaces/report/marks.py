"""Text of others made harmless in each form, and the few words that all forms share."""

from __future__ import annotations

import html
import re

from untilgreen.core.model import Verdict
from untilgreen.core.units import several
from untilgreen.surfaces.text import inert, inert_lines, short

_NOT_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML has no way to write."""


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
    """Without the halves of characters that no file can hold."""
    return text.encode("utf-8", "replace").decode()


def code(text: str, width: int = 200) -> str:
    """Foreign text as code in Markdown: there it is no link, no mention and no markup."""
    line = writable(short(text, width)) or " "
    ticks = "`" * (1 + max((len(run) for run in re.findall(r"`+", line)), default=0))
    pad = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{ticks}{pad}{line}{pad}{ticks}"


def fenced(text: str, language: str = "") -> str:
    """Lines of foreign text as a block that they can't end."""
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
    """A verdict as one sign, with the number of complaints behind it."""
    if verdict is None or verdict.status == "skip":
        return "·"
    count = str(verdict.count) if verdict.status == "fail" else ""
    sign = {"pass": "✓", "fail": "✕", "error": "!"}[verdict.status]
    return f"{sign}{count}{'~' if verdict.flaky else ''}"


def in_words(verdict: Verdict | None) -> str:
    """The same for who can't see the sign."""
    if verdict is None or verdict.status == "skip":
        return "did not run"
    flaky = ", flaky" if verdict.flaky else ""
    match verdict.status:
        case "pass":
            return f"passes{flaky}"
        case "fail":
            return f"fails with {several(verdict.count, 'complaint')}{flaky}"
        case _:
            return f"could not tell{flaky}"
