"""A JSON list or object in the middle of other output, such as a wrapper's."""

from __future__ import annotations

import re
from typing import TypeVar

from msgspec import DecodeError
from msgspec.json import Decoder

from untilgreen.regex import regex

Shape = TypeVar("Shape")

_OBJECT = regex(r"^\{(?=\s*\")", re.MULTILINE)
_START = regex(r"^\[(?=\s*(?:[{\]]|$))", re.MULTILINE)


def decoded(text: str, shape: type[Shape]) -> Shape | None:
    """The list in the text, if it has this shape; searched for once, from its first line to its last."""
    return _decoded(text, shape, _START, "]")


def decoded_object(text: str, shape: type[Shape]) -> Shape | None:
    """The object in the text that begins a line, if it has this shape."""
    return _decoded(text, shape, _OBJECT, "}")


def _decoded(text: str, shape: type[Shape], begins: re.Pattern[str], last: str) -> Shape | None:
    start = begins.search(text)
    end = text.rfind(last)
    if start is None or end < start.start():
        return None
    try:
        return Decoder(shape).decode(text[start.start() : end + 1])
    except (DecodeError, RecursionError):
        return None
