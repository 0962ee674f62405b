"""JSON lines on stdin and stdout: what an editor says, what we answer, and what we ask it.

Lines are written by a task of their own, so that an editor that does not read holds up neither the run nor
its own `session/cancel`.
"""

from __future__ import annotations

import math
import os
import secrets
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

import anyio
import msgspec
from anyio import to_thread

Message = dict[str, Any]
PARSE_ERROR = -32700
INPUT, OUTPUT = 0, 1
PIECE = 65_536
LONGEST_LINE = 16_000_000
"""Bytes; a longer line is read to its end and dropped."""
LONGEST_SHOWN = 100
MOST_WAITING = 20_000
"""Updates that wait for an editor that does not read; later ones are dropped."""
LAST_SECONDS = 5.0
"""How long an editor that is leaving may take to read what is left."""


class Wire:
    """The two streams."""

    def __init__(self) -> None:
        self._unwritten, self._written = anyio.create_memory_object_stream[bytes](math.inf)
        self._over = anyio.Event()
        self._asked: dict[str, tuple[anyio.Event, list[Message]]] = {}

    async def messages(self) -> AsyncIterator[Message]:
        """What the editor says, until it closes our input; answers go to those who asked."""
        async for line in _lines():
            if not line.strip():
                continue
            try:
                message = msgspec.json.decode(line, type=Message)
            except (ValueError, RecursionError):
                problem = {"code": PARSE_ERROR, "message": "That is not a JSON object."}
                self.send({"id": None, "error": problem})
                continue
            if "method" in message:
                yield message
            elif (waiting := self._asked.get(str(message.get("id")))) is not None:
                waiting[1].append(message)
                waiting[0].set()

    async def write(self) -> None:
        """Write what is sent, until `close`; an editor that is gone hears nothing."""
        try:
            async for data in self._written:
                await to_thread.run_sync(_write, data, abandon_on_cancel=True)
        except OSError:
            pass
        finally:
            self._over.set()

    async def close(self) -> None:
        """Wait for what is still to be written, but not for long."""
        self._unwritten.close()
        with anyio.move_on_after(LAST_SECONDS):
            await self._over.wait()

    def send(self, message: Message) -> None:
        """Send an answer or a question."""
        self._unwritten.send_nowait(msgspec.json.encode({"jsonrpc": "2.0", **message}) + b"\n")

    def notify(self, method: str, params: Message) -> None:
        """Send something that the editor may miss if it does not read."""
        if self._written.statistics().current_buffer_used < MOST_WAITING:
            self.send({"method": method, "params": params})

    async def ask(self, method: str, params: Message) -> Message:
        """Ask the editor something, and wait for its whole answer."""
        number = secrets.token_hex(6)
        answered: list[Message] = []
        self._asked[number] = (anyio.Event(), answered)
        self.send({"id": number, "method": method, "params": params})
        try:
            await self._asked[number][0].wait()
        finally:
            del self._asked[number]
        return answered[0]


async def _lines() -> AsyncIterator[bytes]:
    """Each line; one that is too long is read to its end, and only its beginning is returned."""
    rest, begun = bytearray(), b""
    while piece := await _read():
        rest += piece
        *whole, last = rest.split(b"\n") if b"\n" in piece else [rest]
        for line in whole:
            yield begun or bytes(line)
            begun = b""
        rest = last
        if len(rest) > LONGEST_LINE:
            begun = begun or bytes(rest[:LONGEST_SHOWN])
            rest = bytearray()
    yield begun or bytes(rest)


async def _read() -> bytes:
    """Read what has arrived; no thread waits for it, since one that waits forever can't be abandoned."""
    with suppress(PermissionError):  # a file, which is always readable
        await anyio.wait_readable(INPUT)
    return os.read(INPUT, PIECE)


def _write(data: bytes) -> None:
    while data:
        data = data[os.write(OUTPUT, data) :]
