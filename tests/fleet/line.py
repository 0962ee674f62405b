"""Connect the loopback of two network namespaces through unix sockets: `LISTEN=TO` for each port.

Runs as a separate program; stopped with SIGSTOP it is a cut line: nothing passes, but connections stay open.
"""

from __future__ import annotations

import asyncio
import sys
from contextlib import suppress

import anyio

HOST = "127.0.0.1"


async def copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
    with suppress(OSError, RuntimeError):
        writer.close()


async def join(listen: str, to: str) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            other = await (
                asyncio.open_connection(HOST, int(to)) if to.isdigit() else asyncio.open_unix_connection(to)
            )
        except OSError:
            writer.close()
            return
        await asyncio.gather(copy(reader, other[1]), copy(other[0], writer))

    if listen.isdigit():
        await asyncio.start_server(serve, HOST, int(listen))
    else:
        await anyio.Path(listen).unlink(missing_ok=True)
        await asyncio.start_unix_server(serve, listen)


async def main() -> None:
    for pair in sys.argv[1:]:
        await join(*pair.split("="))
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
