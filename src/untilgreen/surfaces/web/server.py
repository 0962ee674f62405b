"""Bind, write the token, serve, and end cleanly: the server around the application."""

from __future__ import annotations

import ipaddress
import os
import secrets
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path

import anyio
import uvicorn
from anyio import to_thread

from untilgreen.errors import UntilgreenError, UserError
from untilgreen.surfaces.web.application import application
from untilgreen.surfaces.web.connection import Connection
from untilgreen.surfaces.web.handlers.call import Service, StartLimits
from untilgreen.surfaces.web.people import Proxy

NAMES = ("127.0.0.1", "localhost", "[::1]")
"""The names under which a browser on this machine may address the server."""
MOST_CONNECTIONS = 1_000
OPEN_SECONDS = 0.3
"""How long after it starts to listen the server opens the runs, unless a request needs them earlier."""
_BACKLOG = 128


@dataclass(frozen=True, kw_only=True)
class Options:
    """How to serve."""

    host: str = "127.0.0.1"
    port: int = 0
    """0 takes a free one."""
    names: tuple[str, ...] = ()
    """Further values of the Host header, for a proxy or another machine."""
    read_only: bool = False
    start: StartLimits = field(default_factory=StartLimits)
    proxy: Proxy | None = None
    fleet: str = ""
    """The database of a fleet to show."""


class LazyService:
    """The runs, opened after the server listens, so that the address and the page are available at once."""

    def __init__(self, state_dir: Path, options: Options) -> None:
        self.state_dir = state_dir
        self.options = options
        self._wanted = anyio.Event()
        self._opened = anyio.Event()
        self._service: Service
        self.closing: Callable[[], bool] = lambda: False

    async def service(self) -> Service:
        """What operations work with, once it is open."""
        self._wanted.set()
        await self._opened.wait()
        return self._service

    async def keep_open(self) -> None:
        """Open the runs for the first request, or soon; keep them open until this is cancelled."""
        with anyio.move_on_after(OPEN_SECONDS):
            await self._wanted.wait()
        backend = await to_thread.run_sync(import_module, "untilgreen.surfaces.web.backend")
        options = self.options
        async with backend.opened(
            self.state_dir, options.start, options.read_only, self.closing, options.fleet
        ) as service:
            self._service = service
            self._opened.set()
            with suppress(OSError, UntilgreenError):  # a request for the runs gets the reason
                await service.runs.learn()
            await anyio.sleep_forever()


class ListeningServer(uvicorn.Server):
    """A server that reports when it listens."""

    def __init__(self, config: uvicorn.Config, listening: Callable[[], None]) -> None:
        super().__init__(config)
        self._listening = listening

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, then report it."""
        await super().startup(sockets)
        self._listening()


async def serve(state_dir: Path, me: str, options: Options, ready: Callable[[str], None]) -> None:
    """Serve until a signal ends it; `ready` gets the address, with the token in its fragment."""
    opening = LazyService(state_dir, options)
    async with anyio.create_task_group() as group:

        def listening() -> None:
            group.start_soon(opening.keep_open)

        try:
            await _serve(opening, me, ready, listening)
        finally:
            group.cancel_scope.cancel()


async def _serve(
    opening: LazyService, me: str, ready: Callable[[str], None], listening: Callable[[], None]
) -> None:
    options = opening.options
    token = secrets.token_urlsafe(32)
    with ExitStack() as stack:
        sockets = [stack.enter_context(each) for each in _bind(options)]
        port: int = sockets[0].getsockname()[1]
        stack.enter_context(_token_file(opening.state_dir, port, token))
        hosts = {*(f"{name}:{port}" for name in (*NAMES, _bracketed(options.host))), *options.names}
        config = uvicorn.Config(
            application(opening.service, hosts=hosts, token=token, me=me, proxy=options.proxy),
            log_level="warning",
            access_log=False,
            server_header=False,
            lifespan="off",
            http=Connection,
            ws="none",
            proxy_headers=False,
            limit_concurrency=MOST_CONNECTIONS,
            timeout_keep_alive=30,
            timeout_graceful_shutdown=3,
        )
        server = ListeningServer(config, listening)
        opening.closing = lambda: server.should_exit
        ready(f"http://{_bracketed(options.host)}:{port}/#{token}")
        await server.serve(sockets=sockets)


def check_host(options: Options) -> None:
    """Serving other machines needs explicit host names, so that no other name is served."""
    try:
        local = ipaddress.ip_address(options.host).is_loopback
    except ValueError as error:
        raise UserError(f"--host takes an address such as 127.0.0.1, not {options.host!r}.") from error
    if not local and not options.names:
        raise UserError(
            f"{options.host} can be reached from other machines. Name what people type in the browser with "
            "--allow-host NAME:PORT, and put TLS in front of it; or stay on 127.0.0.1 and use `ssh -L`."
        )


def _bind(options: Options) -> list[socket.socket]:
    """Bind the address and, on loopback, its counterpart in the other address family."""
    family = socket.AF_INET6 if ":" in options.host else socket.AF_INET
    try:
        first = socket.create_server((options.host, options.port), family=family, backlog=_BACKLOG)
    except OSError as error:
        raise UserError(
            f"{options.host}:{options.port} can't be used: {error.strerror}. Choose another --port."
        ) from error
    found = [first]
    if options.host == "127.0.0.1":
        with suppress(OSError):  # no IPv6 here, or the port is taken there
            port = first.getsockname()[1]
            found.append(socket.create_server(("::1", port), family=socket.AF_INET6, backlog=_BACKLOG))
    return found


@contextmanager
def _token_file(state_dir: Path, port: int, token: str) -> Iterator[None]:
    """The token for programs of the same person, as long as the server lives."""
    state_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = state_dir / f"serve-{port}.token"
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(f"{token}\n")
    try:
        yield
    finally:
        path.unlink(missing_ok=True)


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
