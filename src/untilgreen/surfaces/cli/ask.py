"""Asking a person at the terminal."""

from __future__ import annotations

import sys

from untilgreen.surfaces import streams


def can_ask() -> bool:
    """Whether somebody sees the question and can type."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def yes(question: str) -> bool:
    """A question that only a plain yes answers; silence, and the end of input, is no."""
    streams.write(sys.stderr, f"{question} [y/N] ")
    return sys.stdin.readline().strip().lower() in ("y", "yes")
