"""A child's standard input, written while the child runs, for programs that we hold a conversation with."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Callable

from anyio import Event


class Talk:
    """What we send to a child, in order; `on_cancel` may send a last message before the child is killed."""

    def __init__(self, on_cancel: Callable[[], None] | None = None) -> None:
        self.on_cancel = on_cancel
        self._pieces: deque[bytes] = deque()
        self._closed = False
        self._changed = Event()

    def say(self, data: bytes) -> None:
        """Send it as soon as the child reads; ignored after `close`."""
        if not self._closed:
            self._pieces.append(data)
            self._changed.set()

    def close(self) -> None:
        """End the child's input once everything said has been sent."""
        self._closed = True
        self._changed.set()

    def last_message(self) -> None:
        """Send the last message and end the input."""
        if self.on_cancel is not None:
            self.on_cancel()
        self.close()

    async def pieces(self) -> AsyncIterator[bytes]:
        """The messages, as they are sent."""
        while self._pieces or not self._closed:
            if self._pieces:
                yield self._pieces.popleft()
            else:
                await self._changed.wait()
                self._changed = Event()
