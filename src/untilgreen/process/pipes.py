"""Our ends of a child's pipes: reads bytes as they arrive, writes as the pipe has room.

They are plain descriptors, not streams of the event loop: such a stream belongs to a process, but a
grandchild can keep a pipe open after that process has ended.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress

from anyio import CancelScope, Event, current_time, to_thread, wait_readable, wait_writable
from msgspec import Struct

from untilgreen.process.talk import Talk

_READ_BYTES = 1 << 16
"""What a pipe holds, unless it is told to hold more."""
_MUCH_BYTES = 1 << 18
"""What the pipe of a child that prints a lot holds, since each read costs a turn of the event loop."""
_WINDOWS = os.name == "nt"  # where the event loop can wait for sockets only


class Pulse(Struct):
    """When a child last showed a sign of life."""

    last: float


class Stream:
    """One output stream of a child, passed to a consumer.

    Cancellation from outside does not end it: what a child prints while it is being killed still counts.
    """

    def __init__(self, handle: int, take: Callable[[bytes], None], pulse: Pulse) -> None:
        self.handle, self.take, self.pulse = handle, take, pulse
        self.done = Event()
        self._scope = CancelScope(shield=True)
        self._size = _READ_BYTES

    async def pump(self) -> None:
        """Pass bytes on until the last holder of the pipe has closed it."""
        try:
            with self._scope:
                while chunk := await _read(self.handle, self._size):
                    self.pulse.last = current_time()
                    if len(chunk) == self._size == _READ_BYTES:
                        self._size = _MUCH_BYTES
                        _widen(self.handle)
                    self.take(chunk)
        finally:
            os.close(self.handle)
            self.done.set()

    def stop(self) -> None:
        """Stop waiting for more."""
        if not self.done.is_set():
            self._scope.cancel()


def _widen(handle: int) -> None:
    """Let the pipe hold more; if the system refuses, it stays as it is."""
    if sys.platform == "linux":
        import fcntl  # noqa: PLC0415 - not on every system

        with suppress(OSError):
            fcntl.fcntl(handle, fcntl.F_SETPIPE_SZ, _MUCH_BYTES)


async def _read(handle: int, size: int) -> bytes:
    if _WINDOWS:
        return await to_thread.run_sync(os.read, handle, size, abandon_on_cancel=True)
    while True:
        await wait_readable(handle)
        with suppress(BlockingIOError):
            return os.read(handle, size)


async def feed(handle: int, content: bytes) -> None:
    """Write everything and close; a child may stop reading early."""
    try:
        await _write(handle, content)
    except BrokenPipeError:  # the child has closed its input
        pass
    finally:
        os.close(handle)


class Conversation:
    """A child's input that is written piece by piece, until it is closed.

    Like a stream, it is not ended by cancellation from outside: the last message must still reach the child.
    """

    def __init__(self, handle: int, talk: Talk) -> None:
        self.handle, self.talk = handle, talk
        self._writing = CancelScope(shield=True)

    async def pump(self) -> None:
        """Write each piece as it arrives."""
        try:
            with self._writing:
                async for piece in self.talk.pieces():
                    await _write(self.handle, piece)
        except BrokenPipeError:
            pass
        finally:
            os.close(self.handle)

    def stop(self) -> None:
        """Write no more."""
        self._writing.cancel()


async def _write(handle: int, content: bytes) -> None:
    left = memoryview(content)
    while left:
        if _WINDOWS:
            written = await to_thread.run_sync(os.write, handle, left, abandon_on_cancel=True)
        else:
            await wait_writable(handle)
            written = _write_some(handle, left)
        left = left[written:]


def _write_some(handle: int, left: memoryview) -> int:
    try:
        return os.write(handle, left)
    except BlockingIOError:
        return 0
