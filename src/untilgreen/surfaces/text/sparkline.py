"""Scores as a line of small bars."""

from __future__ import annotations

from collections.abc import Sequence

BLOCKS = "▁▂▃▄▅▆▇█"
ASCII_BLOCKS = "0123456789"


def spark(scores: Sequence[float], *, ascii_only: bool = False) -> str:
    """One bar per score."""
    blocks = ASCII_BLOCKS if ascii_only else BLOCKS
    return "".join(blocks[min(len(blocks) - 1, int(score * len(blocks)))] for score in scores)
