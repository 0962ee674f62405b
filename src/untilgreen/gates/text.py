"""Output as people would read it: no colours, no control codes, lines of a bearable length."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

Here = Callable[[str], str]
"""Puts a text into the view of somebody who stands in the workspace."""
LONGEST_LINE = 4_000

_ESCAPES = re.compile(r"\x1b\[[0-9;:?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[^\[\]]?")


def plain(text: str) -> str:
    """The text without escape sequences, and with one kind of line end."""
    if "\x1b" in text:
        text = _ESCAPES.sub("", text)
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text.encode("utf-8", "replace").decode("utf-8")  # lone surrogates would fit no journal


def seen_from(root: Path) -> Here:
    """Makes paths below a directory relative to it, so that ids are the same in every copy of it."""
    prefixes = {f"{place}/" for place in (root, root.resolve()) if len(str(place)) > 1}

    def here(text: str) -> str:
        for prefix in prefixes:
            text = text.replace(prefix, "")
        return text

    return here


def lines_of(text: str) -> list[str]:
    """The text's lines without trailing space, each cut where no tool's own line would go on."""
    return [line[:LONGEST_LINE].rstrip() for line in plain(text).split("\n")]
