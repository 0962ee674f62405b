"""Output as plain text: no colors, no control codes, no endless lines."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

from untilgreen.regex import regex

MakeRelative = Callable[[str], str]
"""Makes the paths in a text relative to the workspace."""
LONGEST_LINE = 4_000

_ESCAPES = regex(
    r"\x1b\[[0-9;:?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[()*+][0-9A-Za-z]|\x1b[^\[\]]?"
)

_STAMP = regex(r"^\ufeff?\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z ", re.MULTILINE)
"""What CI services put before each line of a log."""


def plain(text: str) -> str:
    """The text without escape sequences, and with one kind of line ending."""
    if "\x1b" in text:
        text = _ESCAPES.sub("", text)
    if "Z " in text and _STAMP.search(text):
        text = _STAMP.sub("", text)
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text.encode("utf-8", "replace").decode("utf-8")  # no journal can hold lone surrogates


def relative_to(root: Path) -> MakeRelative:
    """Makes paths below a directory relative to it, so that ids are the same in every copy of it."""

    @cache
    def prefixes() -> set[str]:
        return {f"{place}/" for place in (root, root.resolve()) if len(str(place)) > 1}

    def make_relative(text: str) -> str:
        for prefix in prefixes() if "/" in text else ():
            text = text.replace(prefix, "")
        return text

    return make_relative


def lines_of(text: str) -> list[str]:
    """The text's lines without trailing space, cut at a length that no tool's own lines reach."""
    return [line[:LONGEST_LINE].rstrip() for line in plain(text).split("\n")]
