"""Shows long texts: in $PAGER or less on a terminal, unpaged elsewhere."""

from __future__ import annotations

import os
import shlex
import shutil
import sys

from untilgreen.surfaces.text import streams

PAGER = "less -FRX"
"""Exits at once if the text fits the screen, and keeps colors."""


def pager(default: str = PAGER) -> list[str]:
    """The command of the user's pager; empty if it isn't installed or its quotes don't close."""
    try:
        command = shlex.split(os.environ.get("PAGER") or default)
    except ValueError:
        return []
    return command if command and shutil.which(command[0]) else []


def paged(text: str) -> None:
    """Show a text that is safe to show; without a pager it is printed."""
    command = pager()
    fits = text.count("\n") < shutil.get_terminal_size().lines
    if fits or not command or not sys.stdout.isatty():
        streams.write(sys.stdout, text)
        return
    import subprocess

    reading = subprocess.Popen(command, stdin=subprocess.PIPE)
    try:
        reading.communicate(text.encode("utf-8", "replace"))
    except KeyboardInterrupt:  # the pager handles it
        reading.wait()
