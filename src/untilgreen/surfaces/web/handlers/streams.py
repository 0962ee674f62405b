"""Events as server-sent events, with their positions as ids, so that a reader can continue later."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

import anyio
import msgspec

from untilgreen.surfaces.web.guard import Message, Receive, Refusal, Send
from untilgreen.surfaces.web.handlers.call import Call, Service
from untilgreen.surfaces.web.summaries import summary_of

BEAT_SECONDS = 15.0
"""How often to send a comment, so that proxies and readers know that the stream is alive."""
LOOK_SECONDS = 0.5
MOST_STREAMS = 256
"""Streams of all readers together."""
HEADERS = [
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
]
_open_streams = anyio.CapacityLimiter(MOST_STREAMS)


async def follow_run(call: Call) -> AsyncGenerator[bytes, None]:
    """Every event of a run after a position, and each new one until the run ends."""
    run = await call.run()
    after = _position(call)

    async def events() -> AsyncGenerator[bytes, None]:
        following = call.service.hubs.following(run.record)
        async with following as hub, aclosing(hub.follow(after)) as followed:
            async for each in followed:
                kind = each.line.split(b'"', 4)[3]
                line = b'{"type":"event","run":"%s","event":%s}' % (run.id.encode(), each.line)
                yield b"id: %d\nevent: %s\ndata: %s\n\n" % (each.seq, kind, line)
        yield b"event: end\ndata: {}\n\n"

    return events()


async def follow_all(call: Call) -> AsyncGenerator[bytes, None]:
    """The summary of each run that changes, from now on."""

    async def changes() -> AsyncGenerator[bytes, None]:
        async for name in call.service.changes.follow():
            try:
                summary = summary_of(await call.service.runs.listed(name))
            except Refusal:
                continue
            yield b"event: run\ndata: " + msgspec.json.encode(summary) + b"\n\n"

    return changes()


async def send_stream(
    source: AsyncGenerator[bytes, None], service: Service, receive: Receive, send: Send
) -> None:
    """Send until the source ends, the reader leaves, or the server does."""
    if _open_streams.borrowed_tokens >= MOST_STREAMS:
        raise Refusal(
            503, "Too many streams", f"{MOST_STREAMS} streams are open. Close a page and try again."
        )
    writing = anyio.Lock()

    async def write(data: bytes) -> None:
        async with writing:
            await send({"type": "http.response.body", "body": data, "more_body": True})

    async def forward(scope: anyio.CancelScope) -> None:
        async with aclosing(source) as pieces:  # else it would be closed at any time, in any task
            async for data in pieces:
                await write(data)
        scope.cancel()

    async def beat(scope: anyio.CancelScope) -> None:
        waited = 0.0
        while not service.closing():
            await anyio.sleep(LOOK_SECONDS)
            waited += LOOK_SECONDS
            if waited >= BEAT_SECONDS:
                waited = 0.0
                await write(b": \n\n")
        scope.cancel()

    async def leave(scope: anyio.CancelScope) -> None:
        while True:
            message: Message = await receive()
            if message["type"] == "http.disconnect":
                scope.cancel()
                return

    async with _open_streams:
        await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
        async with anyio.create_task_group() as group:
            for task in (forward, beat, leave):
                group.start_soon(task, group.cancel_scope)
        await send({"type": "http.response.body", "body": b"", "more_body": False})


def _position(call: Call) -> int:
    text = call.last_event_id or str(call.query.after)
    if not (text.isascii() and text.isdecimal() and len(text) < 10):
        raise Refusal(400, "Bad request", "Last-Event-ID must be the position of an event.")
    return int(text)
