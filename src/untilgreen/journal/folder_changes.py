"""Waits for a change in a folder: notified by the system if possible, otherwise by polling."""

from __future__ import annotations

import os
import sys
from functools import cache
from pathlib import Path
from typing import Any

import anyio

POLL_SECONDS = 0.1
"""How often to poll if the system does not notify."""
_MODIFY, _MOVED_TO, _CREATE = 0x2, 0x80, 0x100
_FLAGS = os.O_NONBLOCK | getattr(os, "O_CLOEXEC", 0)
_MOST = 65_536


class FolderChanges:
    """Whether something was written, created or moved in a folder since the last wait."""

    def __init__(self, folder: Path) -> None:
        """Changes count from now on."""
        self._descriptor = _watch(folder)

    async def wait(self, seconds: float) -> None:
        """Return after a change, or after this many seconds."""
        if self._descriptor is None:
            await anyio.sleep(min(seconds, POLL_SECONDS))
            return
        with anyio.move_on_after(seconds):
            await anyio.wait_readable(self._descriptor)
            os.read(self._descriptor, _MOST)

    def close(self) -> None:
        """Stop watching."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def __enter__(self) -> FolderChanges:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _watch(folder: Path) -> int | None:
    """An inotify descriptor; None if not supported, or if no more are available."""
    library = _library()
    if library is None:
        return None
    descriptor = library.inotify_init1(_FLAGS)
    if descriptor < 0:
        return None
    if library.inotify_add_watch(descriptor, os.fsencode(folder), _MODIFY | _MOVED_TO | _CREATE) < 0:
        os.close(descriptor)
        return None
    return int(descriptor)


@cache
def _library() -> Any:
    if sys.platform != "linux":
        return None
    import ctypes  # noqa: PLC0415 - a command that waits for nothing does not load it

    try:
        library = ctypes.CDLL(None, use_errno=True)
        return library if hasattr(library, "inotify_init1") else None
    except OSError:
        return None
