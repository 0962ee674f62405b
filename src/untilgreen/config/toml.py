"""TOML that others wrote, read with limits: a key of thousands of parts takes the parser time squared."""

from __future__ import annotations

import re
import tomllib
from typing import Any

MOST_PARTS = 100
"""Of one dotted key; nobody writes so many."""

_PART = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+"""
_LONG_KEY = re.compile(rf"""(?<![\w"'-])(?:{_PART}){{{MOST_PARTS}}}""")


def loads(text: str) -> dict[str, Any]:
    """The values; `ValueError` where it can't be read, `RecursionError` where it is too deep."""
    if found := _LONG_KEY.search(text):
        line = text.count("\n", 0, found.start()) + 1
        raise ValueError(f"a key has more than {MOST_PARTS} parts (at line {line}, column 1)")
    return tomllib.loads(text)
