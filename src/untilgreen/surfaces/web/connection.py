"""One connection: a request has to arrive in time, however slowly somebody sends it."""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

ARRIVE_SECONDS = 15.0
"""How long a request may take, from its first byte (or from connecting) to the last one of its body."""


class Connection(H11Protocol):
    """HTTP/1.1 that closes a connection whose request trickles in; uvicorn alone would wait forever."""

    _due: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Somebody connects."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Part of a request, or all of it."""
        self._wait()
        super().data_received(data)
        pending, _ = self.conn.trailing_data
        state = self.conn.their_state
        if state is not h11.SEND_BODY and not (state is h11.IDLE and pending):
            self._stop_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        """The client has left, or was disconnected."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _wait(self) -> None:
        self._due = self._due or self.loop.call_later(ARRIVE_SECONDS, self._send_away)

    def _send_away(self) -> None:
        """Disconnect the client; what was answered still arrives, unless it doesn't read that either."""
        if self.transport.get_write_buffer_size():
            self.transport.abort()
        else:
            self.transport.close()

    def _stop_waiting(self) -> None:
        if self._due is not None:
            self._due.cancel()
            self._due = None
