"""Printing: stdout is data, stderr is for people; colour and width by the usual conventions."""

from __future__ import annotations

import os
import sys
from typing import Any

from msgspec import json

from untilgreen.surfaces.text import inert_lines

SCHEMA = "1.0"
"""Version of everything that `--json` prints: a minor adds fields, a major may break."""


def out(text: str = "") -> None:
    """A line of the result."""
    sys.stdout.write(text + "\n")


def out_json(value: Any) -> None:
    """One line of NDJSON."""
    sys.stdout.buffer.write(json.encode(value) + b"\n")
    sys.stdout.flush()


def version_line() -> None:
    """The first line of every JSON output, so that readers know what they read."""
    out_json({"type": "version", "schema": SCHEMA, "tool": "untilgreen"})


def tell(text: str) -> None:
    """A line for the person at the terminal."""
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


def complain(text: str, help_line: str = "") -> None:
    """What went wrong, and what to do about it."""
    if text:
        tell(f"error: {inert_lines(text)}")
    if help_line:
        tell(f"help: {help_line}")


def ascii_only() -> bool:
    """Whether to keep to plain characters: a dumb terminal, an encoding without the others, or by wish."""
    if os.environ.get("UNTILGREEN_ASCII") or os.environ.get("TERM") == "dumb":
        return True
    encoding = (sys.stderr.encoding or "").lower()
    return "utf" not in encoding
