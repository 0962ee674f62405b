"""Questions for the person at the terminal."""

from __future__ import annotations

import sys

from untilgreen.errors import UserError
from untilgreen.surfaces.text import streams


def can_ask() -> bool:
    """Whether a person can see the question and type."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def ask(question: str, default: str = "") -> str:
    """A question with a default; the end of input is no answer, so nothing is done."""
    streams.write(sys.stderr, f"{question}{f' [{default}]' if default else ''} ")
    line = sys.stdin.readline()
    if not line:
        raise UserError("No answer was given, so nothing was done.")
    return line.strip() or default


def yes(question: str) -> bool:
    """A yes-or-no question; only y or yes means yes."""
    streams.write(sys.stderr, f"{question} [y/N] ")
    return sys.stdin.readline().strip().lower() in ("y", "yes")
