"""`/mcp`: the same runs for MCP clients over streamable HTTP, behind the guard and within the limits.

The SDK is slow to import, so it is loaded when the first client asks.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import anyio
from anyio import to_thread
from anyio.abc import TaskGroup, TaskStatus
from starlette.requests import Request

from untilgreen.errors import UserError
from untilgreen.surfaces.web.guard import Receive, Refusal, Scope, Send, send_problem
from untilgreen.surfaces.web.handlers.call import Call, Service
from untilgreen.surfaces.web.people import Person, Role

if TYPE_CHECKING:
    from untilgreen.core.values.model import Plan

MOST_SESSIONS = 50
_POWERS: dict[Role, Literal["look", "steer", "start"]] = {
    "viewer": "look",
    "operator": "steer",
    "admin": "start",
}


class McpMount:
    """One MCP server for each role, started when somebody with that role first calls."""

    def __init__(self) -> None:
        self._managers: dict[Role, Any] = {}
        self._beginning = anyio.Lock()
        self._group: TaskGroup | None = None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[McpMount]:
        """Serve as long as this block lasts."""
        async with anyio.create_task_group() as group:
            self._group = group
            yield self
            group.cancel_scope.cancel()

    async def serve(
        self, service: Service, person: Person, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """One request."""
        role: Role = "viewer" if service.read_only else person.role
        async with self._beginning:
            if role not in self._managers and self._group is not None:
                self._managers[role] = await self._group.start(_keep, service, person, role)
        await self._managers[role].handle_request(scope, receive, send)


async def _keep(
    service: Service, person: Person, role: Role, *, task_status: TaskStatus[Any] = anyio.TASK_STATUS_IGNORED
) -> None:
    manager = await to_thread.run_sync(_manager, service, person, role)
    async with manager.run():
        task_status.started(manager)
        await anyio.sleep_forever()


def _manager(service: Service, person: Person, role: Role) -> Any:
    try:
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
        from mcp.server.transport_security import TransportSecuritySettings

        from untilgreen.surfaces.mcp.server import make_server
        from untilgreen.surfaces.mcp.tools import Runs
    except ModuleNotFoundError as error:
        detail = f"/mcp needs {error.name}. Install it with: pip install 'untilgreen[mcp]'"
        raise Refusal(501, "Not installed", detail) from error
    call = Call(service=service, person=person, path={}, query=None)
    start = service.start.roots[0] if service.start.roots else Path.home()
    runs = Runs(service.runs.store, start, admit=_within_limits(call), power=_POWERS[role])
    return StreamableHTTPSessionManager(
        make_server(lambda: runs),
        max_sessions=MOST_SESSIONS,
        security_settings=TransportSecuritySettings(
            enable_dns_rebinding_protection=False
        ),  # the guard did it
    )


def _within_limits(call: Call) -> Callable[[Path, Plan | None], Awaitable[None]]:
    """MCP clients may start only what the page may."""

    async def admit(directory: Path, plan: Plan | None) -> None:
        from untilgreen.surfaces.web.handlers.start import check_allowed, check_room, workspace

        try:
            workspace(call, str(directory))
            if plan is not None:
                check_allowed(call, plan)
                await check_room(call)
        except Refusal as refusal:
            raise UserError(str(refusal)) from refusal

    return admit


class McpEndpoint:
    """The route; agents of runs are refused, even with the token."""

    def __init__(
        self,
        opened: Callable[[], Awaitable[Service]],
        refuse_agents: Callable[[Request, Service], Awaitable[None]],
    ) -> None:
        self._opened = opened
        self._refuse_agents = refuse_agents

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            service = await self._opened()
            await self._refuse_agents(Request(scope), service)
            await service.mcp.serve(service, scope["person"], scope, receive, send)
        except Refusal as refusal:
            await send_problem(refusal.problem, send)
