"""Waiting for git processes of a run that outlived their driver, and holding back everybody else."""

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
    """Wait until nobody holds the file, hold it, and give the descriptors that our own git is to hold.

    A git that outlives its driver is waited for by the next one that way.
    """
    descriptor = os.open(busy, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        await _wait_for(descriptor, place)
        yield () if sys.platform == "win32" else (descriptor,)
    finally:
        os.close(descriptor)


async def _wait_for(descriptor: int, place: Path) -> None:
    with anyio.move_on_after(PATIENCE):
        while not lock(descriptor):  # noqa: ASYNC110 - it may be another process that holds it
            await anyio.sleep(0.01)
        return
    raise WorkspaceNotReady(
        f"A git process of this run has been busy in {str(place)!r} "
        f"for {PATIENCE:.0f} seconds. End it, and start again."
    )
