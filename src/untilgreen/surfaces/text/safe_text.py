"""Text from others made safe to show: no escape sequence reaches the terminal."""

from __future__ import annotations

import unicodedata

from untilgreen.regex import regex

_ESCAPES = regex(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b.?")
_CONTROLS = {code: None for code in (*range(0x00, 0x20), *range(0x7F, 0xA0))}
_CONTROLS_BUT_LINES = {code: None for code in _CONTROLS if code not in (0x09, 0x0A)}
_TRICKS = {code: "�" for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A))}
"""Characters that change the direction of writing, and can make a line read as another."""
_PLAIN = str.maketrans({"…": "...", "·": "-", "×": "x", "–": "-", "’": "'"})


def inert(text: str) -> str:
    """The text as one line that can't move the cursor or change a color."""
    plain = _ESCAPES.sub("", text).replace("\n", " ").replace("\t", " ")
    return plain.translate(_CONTROLS).translate(_TRICKS)


def inert_lines(text: str) -> str:
    """The same, keeping lines and tabs."""
    return _ESCAPES.sub("", text).translate(_CONTROLS_BUT_LINES).translate(_TRICKS)


def short(text: str, width: int) -> str:
    """One inert line, cut to this many columns."""
    line = " ".join(inert(text).split())
    return line if columns_of(line) <= width else _begin(line, width - 1) + "…"


def folded(text: str, width: int) -> list[str]:
    """The text in lines of at most this many columns, broken between words."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if columns_of(longer) <= width or not lines[-1]:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def padded(text: str, width: int) -> str:
    """The text, filled with spaces to this width."""
    return text + " " * (width - columns_of(text))


def columns_of(text: str) -> int:
    """How many columns a line takes on a terminal; some characters take two, some none."""
    return len(text) if text.isascii() else sum(map(_places, text))


def in_ascii(text: str) -> str:
    """The text with the symbols that we use as plain characters; all others stay."""
    return text.translate(_PLAIN)


def _begin(line: str, width: int) -> str:
    taken = 0
    for position, character in enumerate(line):
        taken += _places(character)
        if taken > width:
            return line[:position]
    return line


def _places(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in ("Cf", "Me", "Mn"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1
