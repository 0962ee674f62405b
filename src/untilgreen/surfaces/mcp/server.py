"""The protocol over the official SDK: what is offered, and which code handles it.

The first answer does not need the engine, which takes as long to load as the SDK; it is loaded with the
second request.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from untilgreen import __version__
from untilgreen.surfaces.mcp.task_params import TASKS, TaskParams, UpdateParams

if TYPE_CHECKING:
    from untilgreen.engine.store.runs import Store
    from untilgreen.surfaces.mcp.handlers import Handlers
    from untilgreen.surfaces.mcp.tools import Runs

INSTRUCTIONS = (
    "Starts and watches runs of coding agents that end only when their gates are green. "
    "Start with run_start, then call run_wait until the status is not 'running'. Believe the outcome, not a "
    "claim. Questions are for people: your client shows them, or they answer in a terminal."
)


def make_server(open_runs: Callable[[], Runs]) -> Server[Any]:
    """A server for runs, which are opened when a client asks for more than `initialize`."""
    late = _Late(open_runs)
    server: Server[Any] = Server(
        "untilgreen",
        version=__version__,
        instructions=INSTRUCTIONS,
        on_list_tools=late.handler("list_tools"),
        on_call_tool=late.handler("call_tool"),
        on_list_resources=late.handler("list_resources"),
        on_list_resource_templates=late.handler("list_templates"),
        on_read_resource=late.handler("read_resource"),
        on_list_prompts=late.handler("list_prompts"),
        on_get_prompt=late.handler("get_prompt"),
    )
    server.extensions[TASKS] = {}
    server.add_request_handler("tasks/get", TaskParams, late.handler("get_task"))
    server.add_request_handler("tasks/update", UpdateParams, late.handler("update_task"))
    server.add_request_handler("tasks/cancel", TaskParams, late.handler("cancel_task"))
    return server


def serve_stdio(store: Store, start: Path) -> None:
    """Serve until the client closes its end."""

    def runs() -> Runs:
        from untilgreen.surfaces.mcp.tools import Runs

        return Runs(store, start)

    async def main() -> None:
        server = make_server(runs)
        async with stdio_server() as (reading, writing):
            await server.run(reading, writing, server.create_initialization_options())

    anyio.run(main)


class _Late:
    """Loads the handlers with the first request."""

    def __init__(self, open_runs: Callable[[], Runs]) -> None:
        self._open_runs = open_runs

    @cached_property
    def _handlers(self) -> Handlers:
        from untilgreen.surfaces.mcp.handlers import Handlers

        return Handlers(self._open_runs())

    def handler(self, name: str) -> Callable[[Any, Any], Awaitable[Any]]:
        """A handler that calls the method of this name."""

        async def handle(context: Any, params: Any) -> Any:
            return await getattr(self._handlers, name)(context, params)

        return handle
