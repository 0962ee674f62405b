"""Printing: results to stdout, everything for people to stderr."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from msgspec import json

from untilgreen.surfaces.text import streams
from untilgreen.surfaces.text.safe_text import in_ascii, inert_lines

if TYPE_CHECKING:  # `serve` reads no run before it listens
    from untilgreen.core.values.state import RunState
    from untilgreen.surfaces.json.lines import Line

SHORTEST = 16
"""Columns that a title gets on the narrowest terminal."""


@contextmanager
def forgiving_streams() -> Iterator[None]:
    """A character that can't be shown, or a closed pipe, is not an error."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        yield
    finally:
        streams.write(sys.stdout, "")


def out(text: str = "") -> None:
    """A line of the result."""
    streams.write(sys.stdout, f"{in_ascii(text) if ascii_only() else text}\n")


def summarize(state: RunState, flags: str, *, seen: bool = False, driven: bool = False) -> None:
    """Print the result or the current state of a run, as wide as the terminal; `seen` if `show` prints it."""
    import shutil

    from untilgreen.surfaces.text import summary

    lines = summary.summary(
        state,
        width=shutil.get_terminal_size().columns,
        ascii_only=ascii_only(),
        flags=flags,
        wrapped=sys.stdout.isatty(),
        seen=seen,
        driven=driven,
    )
    for line in lines:
        out(line)


def out_json(line: Line) -> None:
    """One line of NDJSON."""
    streams.write_bytes(sys.stdout, json.encode(line) + b"\n")


def version_line() -> None:
    """The first line of every JSON output."""
    from untilgreen.surfaces.json.lines import Version

    out_json(Version())


def tell(text: str) -> None:
    """A line for the person at the terminal."""
    streams.write(sys.stderr, f"{in_ascii(text) if ascii_only() else text}\n")


def print_problem(text: str, help_line: str = "") -> None:
    """What went wrong, and what to do about it."""
    if text:
        tell(f"error: {inert_lines(text)}")
    if help_line:
        tell(f"help: {help_line}")


def columns_left(taken: int, most: int) -> int:
    """Columns left in a line after those taken; `most` if stdout is not a terminal."""
    try:
        columns = os.get_terminal_size(sys.stdout.fileno()).columns
    except (OSError, ValueError):
        return most
    return max(SHORTEST, min(most, columns - taken)) if columns else most


def ascii_only() -> bool:
    """Whether to use only plain characters: a dumb terminal, another encoding than UTF-8, or by choice."""
    if os.environ.get("UNTILGREEN_ASCII") or os.environ.get("TERM") == "dumb":
        return True
    encoding = (sys.stderr.encoding or "").lower()
    return "utf" not in encoding
