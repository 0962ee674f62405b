"""The ends of a child's pipes that are ours: read as the bytes come, written as far as there is room.

They are plain descriptors and not the streams of the event loop: those belong to a process, while a pipe may
outlive its process in the hands of a grandchild.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from anyio import CancelScope, Event, current_time, to_thread, wait_readable, wait_writable

_READ_BYTES = 1 << 16
_WINDOWS = os.name == "nt"  # waits for sockets only


@dataclass
class Pulse:
    """When a child last showed a sign of life."""

    last: float


@dataclass
class Stream:
    """One output of a child, on its way to whoever takes it.

    It is not ended by cancellation from outside: while a child is being ended, its last words still count.
    """

    handle: int
    take: Callable[[bytes], None]
    pulse: Pulse

    def __post_init__(self) -> None:
        self.done = Event()
        self._scope = CancelScope(shield=True)

    async def pump(self) -> None:
        """Carry bytes until the last holder of the pipe has closed it."""
        try:
            with self._scope:
                while chunk := await _read(self.handle):
                    self.pulse.last = current_time()
                    self.take(chunk)
        finally:
            os.close(self.handle)
            self.done.set()

    def stop(self) -> None:
        """Wait for no more."""
        if not self.done.is_set():
            self._scope.cancel()


async def _read(handle: int) -> bytes:
    if _WINDOWS:
        return await to_thread.run_sync(os.read, handle, _READ_BYTES, abandon_on_cancel=True)
    while True:
        await wait_readable(handle)
        with suppress(BlockingIOError):
            return os.read(handle, _READ_BYTES)


async def feed(handle: int, content: bytes) -> None:
    """Write it all and close; a child that does not want to read it need not."""
    try:
        left = memoryview(content)
        while left:
            if _WINDOWS:
                written = await to_thread.run_sync(os.write, handle, left, abandon_on_cancel=True)
            else:
                await wait_writable(handle)
                written = _write_some(handle, left)
            left = left[written:]
    except BrokenPipeError:  # it has closed its input, which is its right
        pass
    finally:
        os.close(handle)


def _write_some(handle: int, left: memoryview) -> int:
    try:
        return os.write(handle, left)
    except BlockingIOError:
        return 0
