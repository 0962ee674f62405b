"""Foreign text made safe to show: no escape sequence of a model, a gate or a file name reaches a terminal."""

from __future__ import annotations

import re

_ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b.?")
_CONTROLS = {code: None for code in (*range(0x00, 0x20), *range(0x7F, 0xA0))}
_CONTROLS_BUT_LINES = {code: None for code in _CONTROLS if code not in (0x09, 0x0A)}
_TRICKS = {code: "�" for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A))}
"""Characters that turn the direction of writing, and can make a line read as another."""


def inert(text: str) -> str:
    """The text as one line that can't move the cursor or change a colour."""
    plain = _ESCAPES.sub("", text).replace("\n", " ").replace("\t", " ")
    return plain.translate(_CONTROLS).translate(_TRICKS)


def inert_lines(text: str) -> str:
    """The same, keeping lines and tabs."""
    return _ESCAPES.sub("", text).translate(_CONTROLS_BUT_LINES).translate(_TRICKS)


def short(text: str, width: int) -> str:
    """One inert line of at most so many characters."""
    line = " ".join(inert(text).split())
    return line if len(line) <= width else line[: max(0, width - 1)] + "…"
