"""Long texts: through $PAGER or less on a terminal, as they are elsewhere."""

from __future__ import annotations

import os
import shlex
import shutil
import sys

from untilgreen.surfaces.text import streams

PAGER = "less -FRX"
"""Leaves at once if the text fits the screen, and keeps colors."""


def paged(text: str) -> None:
    """Show a text that is safe to show; without a pager it is printed."""
    command = shlex.split(os.environ.get("PAGER") or PAGER)
    fits = text.count("\n") < shutil.get_terminal_size().lines
    if fits or not sys.stdout.isatty() or not command or shutil.which(command[0]) is None:
        streams.write(sys.stdout, text)
        return
    import subprocess

    pager = subprocess.Popen(command, stdin=subprocess.PIPE)
    try:
        pager.communicate(text.encode("utf-8", "replace"))
    except KeyboardInterrupt:  # the pager handles it
        pager.wait()
