"""One answer on its way to an agent, whichever API will write it out in its own format."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from untilgreen.testing.model.tools import Use

StreamEvent = tuple[str | None, Any]
"""The name of a server-sent event, if it has one, and what it carries."""


class Tokens(Struct, frozen=True, kw_only=True):
    """The token counts that an answer reports."""

    input: int
    output: int
    cache_read: int = 0
    cache_write: int = 0


class ToSay(Struct, frozen=True, kw_only=True):
    """Text and tool calls, and the size of the pieces that a stream sends."""

    model: str
    text: str
    uses: tuple[Use, ...]
    tokens: Tokens
    chunk: int = 40

    def pieces(self, text: str) -> Iterator[str]:
        """The text in the pieces of a stream."""
        step = max(1, self.chunk)
        yield from (text[at : at + step] for at in range(0, len(text), step))
