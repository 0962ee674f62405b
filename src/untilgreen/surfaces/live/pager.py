"""Shows a long text over the live view, in $PAGER or less, while the run continues."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import anyio
from anyio.abc import Process

from untilgreen.surfaces.text.paging import pager
from untilgreen.surfaces.text.safe_text import inert_lines

GRACE_SECONDS = 2.0
"""How long a pager may take to restore the screen if the run ends while it is open."""


async def page(text: str) -> None:
    """Returns when the person leaves the pager; without one, the text is printed."""
    data = (inert_lines(text).rstrip("\n") + "\n").encode("utf-8", "replace")
    command = pager("less -R")  # without -F: a text that fits would vanish with the next frame
    if not command:
        sys.stderr.write(data.decode())
        return
    with _interrupts_left_to_the_pager():
        try:
            shown = await anyio.open_process(command, stdin=subprocess.PIPE, stdout=None, stderr=None)
        except OSError as error:
            sys.stderr.write(f"{command[0]} can't be started: {error}\n")
            return
        try:
            await _fed(shown, data)
        finally:
            with anyio.CancelScope(shield=True):
                await _closed(shown)


async def _fed(pager: Process, data: bytes) -> None:
    """A person may leave before everything is read."""
    with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
        assert pager.stdin is not None
        await pager.stdin.send(data)
        await pager.stdin.aclose()
    await pager.wait()


async def _closed(pager: Process) -> None:
    """Asked to end, less leaves its screen and restores the terminal; killed, it would not."""
    if pager.returncode is None:
        with suppress(ProcessLookupError):
            pager.terminate()
        with anyio.move_on_after(GRACE_SECONDS):
            await pager.wait()
    await pager.aclose()


@contextmanager
def _interrupts_left_to_the_pager() -> Iterator[None]:
    """Ctrl-C belongs to the pager, which ends a search with it; the run is not interrupted."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
