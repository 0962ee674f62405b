"""Waits for git processes that outlived their driver, and keeps others out until then."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio

from untilgreen.errors import WorkspaceNotReady
from untilgreen.process.flock import lock

PATIENCE = 120.0


@asynccontextmanager
async def alone(busy: Path, place: Path) -> AsyncIterator[tuple[int, ...]]:
    """Wait for the lock, hold it, and yield the descriptors that our git processes inherit.

    That way the next driver waits for a git that outlives this one.
    """
    descriptor = os.open(busy, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        await _wait_for(descriptor, place)
        yield () if sys.platform == "win32" else (descriptor,)
    finally:
        os.close(descriptor)


async def _wait_for(descriptor: int, place: Path) -> None:
    with anyio.move_on_after(PATIENCE):
        while not lock(descriptor):  # noqa: ASYNC110 - another process may hold it
            await anyio.sleep(0.01)
        return
    raise WorkspaceNotReady(
        f"A git process of this run has been busy in {str(place)!r} "
        f"for {PATIENCE:.0f} seconds. Stop it, and try again."
    )
