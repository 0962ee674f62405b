"""The manual page, from the same text as `--help` and the reference."""

from __future__ import annotations

from untilgreen import __version__
from untilgreen.core.exit_codes import MEANINGS
from untilgreen.regex import regex

_CODE = regex(r"`([^`]*)`")
_LINK = regex(r"\[([^]]*)\]\([^)]*\)")
_ITEM = regex(r"\* (`[^`]*`|\[`[^`]*`\]\([^)]*\))(?:: (.*))?")


def manual(markdown: str) -> str:
    """Roff for `man -l -`, from the reference of all verbs."""
    lines = [f'.TH UNTILGREEN 1 "" "untilgreen {__version__}" "User Commands"', ".SH NAME"]
    lines.append("untilgreen \\- keep a coding agent working until its gates are green")
    fenced = skipped = False
    for line in markdown.splitlines():
        if line.startswith("```"):
            fenced = not fenced
            lines.append(".PP\n.nf" if fenced else ".fi")
        elif fenced:
            lines.append(_plain(line))
        elif line.startswith("#"):
            title = line.lstrip("# ")
            skipped = title == "Table of Contents"
            lines += (
                []
                if skipped
                else [f".SH {_plain(title).upper() if title == 'untilgreen' else _plain(title)}"]
            )
        elif not skipped or line.startswith("**"):
            skipped = False
            lines += _paragraph(line)
    lines.append(".SH EXIT CODES")
    for code, meaning in MEANINGS.items():
        lines += [".TP", f".B {code}", _plain(meaning)]
    return "\n".join(lines) + "\n"


def _paragraph(line: str) -> list[str]:
    if not line.strip():
        return [".PP"]
    if item := _ITEM.fullmatch(line):
        name = _CODE.sub(r"\1", _LINK.sub(r"\1", item[1]))
        return [".TP", f".B {_plain(name)}", _plain(item[2] or "")]
    if line.startswith("**"):
        return [f".SS {_plain(line.strip('*:'))}"]
    return [_plain(line)]


def _plain(text: str) -> str:
    """Escape what roff would take for a request or an escape sequence."""
    said = _CODE.sub(r"\1", _LINK.sub(r"\1", text)).replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{said}" if said.startswith((".", "'")) else said
