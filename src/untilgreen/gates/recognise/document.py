"""A JSON list in the middle of an output: tools print it whole, wrappers print around it."""

from __future__ import annotations

import re
from typing import TypeVar

from msgspec import DecodeError
from msgspec.json import Decoder

Shape = TypeVar("Shape")

_START = re.compile(r"^\[(?=\s*(?:[{\]]|$))", re.MULTILINE)


def decoded(text: str, shape: type[Shape]) -> Shape | None:
    """The list in the text, if it has this shape; looked for once, from its first line to its last."""
    start = _START.search(text)
    end = text.rfind("]")
    if start is None or end < start.start():
        return None
    try:
        return Decoder(shape).decode(text[start.start() : end + 1])
    except (DecodeError, RecursionError):
        return None
