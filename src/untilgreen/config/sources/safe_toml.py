"""Parse TOML from strangers: a key with thousands of parts would take the parser quadratic time."""

from __future__ import annotations

from typing import Any

from untilgreen.regex import regex

MOST_PARTS = 100
"""The most parts that one dotted key may have."""

_PART = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+"""
_LONG_KEY = regex(rf"""(?<![\w"'-])(?:{_PART}){{{MOST_PARTS}}}""")


def loads(text: str) -> dict[str, Any]:
    """The values; raises `ValueError` for invalid TOML, `RecursionError` if it is nested too deeply."""
    if found := _LONG_KEY.search(text):
        line = text.count("\n", 0, found.start()) + 1
        raise ValueError(f"a key has more than {MOST_PARTS} parts (at line {line}, column 1)")
    import tomllib  # noqa: PLC0415 - its patterns take a millisecond, and there may be nothing to parse

    return tomllib.loads(text)
