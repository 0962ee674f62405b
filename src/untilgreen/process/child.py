"""A child process whose end can be awaited; without the event loop's own machinery, which costs a thread."""

from __future__ import annotations

import os
from subprocess import Popen

from anyio import to_thread, wait_readable


class Waited:
    """One process that we started, and that nobody else waits for."""

    def __init__(self, popen: Popen[bytes]) -> None:
        self._popen = popen

    @property
    def pid(self) -> int:
        """Its number, which stays its own until its end has been seen."""
        return self._popen.pid

    @property
    def returncode(self) -> int | None:
        """How it ended, once that has been seen."""
        return self._popen.returncode

    async def wait(self) -> int:
        """Return when it has ended."""
        handle = _handle(self._popen.pid) if self._popen.poll() is None else None
        if handle is not None:
            try:
                await wait_readable(handle)
            finally:
                os.close(handle)
        elif self._popen.returncode is None:
            await to_thread.run_sync(self._popen.wait, abandon_on_cancel=True)
        return self._popen.wait()


def _handle(pid: int) -> int | None:
    """Something that can be read when the process has ended; None where the system has no such thing."""
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):
        return None
