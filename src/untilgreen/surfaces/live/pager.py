"""Shows a long text over the live view, in $PAGER or less, while the run continues."""

from __future__ import annotations

import sys

import anyio

from untilgreen.surfaces.text.paging import pager
from untilgreen.surfaces.text.safe_text import inert_lines


async def page(text: str) -> None:
    """Returns when the person leaves the pager; without one, the text is printed."""
    data = (inert_lines(text).rstrip("\n") + "\n").encode("utf-8", "replace")
    command = pager("less -R")  # without -F: a text that fits would vanish with the next frame
    if not command:
        sys.stderr.write(data.decode())
        return
    try:
        await anyio.run_process(command, input=data, stdout=None, stderr=None, check=False)
    except OSError as error:
        sys.stderr.write(f"{command[0]} can't be started: {error}\n")
