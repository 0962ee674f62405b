"""A `git gc --prune=now` of somebody else: it may take what was written before that had a name.

Such a gc looks for names first and removes afterwards, so even a tree that got its name meanwhile can lose
its files. Whether one was under way is seen by its note `gc.pid`, and by the folder that the note lies in.
"""

from __future__ import annotations

import socket
from pathlib import Path

import anyio
import psutil

NOTE = "gc.pid"
PATIENCE = 600.0
"""Seconds; a gc of a large repository takes minutes."""
_LOOK_SECONDS = 0.02


class Watch:
    """Tells whether a gc was under way since the watch began."""

    def __init__(self, repository: Path) -> None:
        self._repository = repository
        self._before = self._mark()

    async def saw_one(self) -> bool:
        """Whether there was one; one that still is under way is waited for."""
        seen = self._mark() != self._before or (self._repository / NOTE).exists()
        with anyio.move_on_after(PATIENCE):
            while self._lives():  # noqa: ASYNC110 - it is another program's
                await anyio.sleep(_LOOK_SECONDS)
        return seen

    def _mark(self) -> int:
        return self._repository.stat().st_mtime_ns

    def _lives(self) -> bool:
        """Whether the gc of the note still runs, as far as this machine can tell."""
        try:
            pid, host = (self._repository / NOTE).read_text(errors="replace").split()[:2]
            return host == socket.gethostname() and psutil.pid_exists(int(pid))
        except (OSError, ValueError, OverflowError):
            return False
