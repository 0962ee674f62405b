"""The sentences of the pages about safety, each with the tests that prove it; one table for each page.

A row has a sentence exactly as on the page, and the tests that prove it, or the reason why it promises
nothing. A test is `tests/…/test_x.py::test_name`, or the file of a story in tests/cheats.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import msgspec

ROOT = Path(__file__).parents[2]
PAGES = {"SECURITY.md": "security", "docs/sandbox.md": "sandbox", "docs/gates.md": "gates"}
_ENDS = re.compile(r"(?<=[.!?])\s+(?=[A-Z`\"*\[]|untilgreen)")
_ITEM = re.compile(r"^(?:[-*]|\d+\.) ")
_RULE = re.compile(r"^[|\s:-]+$")


class Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One sentence, with the tests that prove it or the reason why it promises nothing."""

    says: str
    tests: tuple[str, ...] = ()
    reason: str = ""


def rows(page: str) -> list[Row]:
    """The rows of a page's table."""
    text = Path(__file__).with_name(f"{PAGES[page]}.toml").read_text(encoding="utf-8")
    return msgspec.convert(tomllib.loads(text)["sentence"], list[Row])


def sentences(text: str) -> Iterator[str]:
    """The sentences of a page, without headings, examples and the header of each table."""
    lines, fenced = [line.strip() for line in text.splitlines()], False
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if line.startswith("```"):
            fenced = not fenced
        is_head = line.startswith("|") and following.startswith("|") and _RULE.match(following)
        if fenced or not line or line.startswith(("#", "```")) or is_head or _RULE.match(line):
            continue
        yield from _ENDS.split(_ITEM.sub("", line.strip("|").strip()))
