"""The ASGI application: the operations as routes, the page, and the guard around both."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from importlib import import_module
from typing import Any

import anyio
import msgspec
from anyio import to_thread
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from untilgreen.errors import UntilgreenError
from untilgreen.surfaces.web.api.operations import MCP, PREFIX, TABLE, Operation
from untilgreen.surfaces.web.api.requests import PROBLEM, Problem
from untilgreen.surfaces.web.assets import asset, page
from untilgreen.surfaces.web.guard import App, Guard, Receive, Refusal, Scope, Send, send_problem
from untilgreen.surfaces.web.handlers.call import Call, Service
from untilgreen.surfaces.web.mcp_mount import McpEndpoint
from untilgreen.surfaces.web.people import Person, Proxy

BODY_SECONDS = 10.0
"""How long a body may take to arrive."""
MOST_KEYS = 1_000
"""Idempotency keys that are remembered."""
Opened = Callable[[], Awaitable[Service]]
"""Waits for what operations work with."""
_log = logging.getLogger(__name__)


def application(opened: Opened, *, hosts: set[str], token: str, me: str, proxy: Proxy | None = None) -> App:
    """Everything that `untilgreen serve` serves."""
    repeated = _Repeated()
    routes = [Route(_route(each), _Endpoint(each, opened, repeated), methods=[each.method]) for each in TABLE]
    extra = [
        Route(f"{PREFIX}/openapi.json", _openapi, methods=["GET"]),
        Route(MCP, McpEndpoint(opened, _refuse_agents), methods=["GET", "POST", "DELETE"]),
        Route("/", _page, methods=["GET"]),
        Route("/assets/{name:path}", _asset, methods=["GET"]),
    ]
    problems: dict[Any, Callable[[Request, Exception], Awaitable[Response]]] = {
        404: _not_found,
        405: _not_found,
    }
    app = Starlette(routes=[*routes, *extra], exception_handlers=problems)
    app.router.redirect_slashes = False  # a redirect would have no problem document
    return Guard(app, hosts=hosts, token=token, me=me, proxy=proxy)


def _route(operation: Operation) -> str:
    """The name of a gate may have a slash: many are named by their commands. It is still one name."""
    return operation.path.replace("{gate}", "{gate:path}")


class _Endpoint:
    """One operation: parameters and body by their types, refusals and errors as problem documents."""

    def __init__(self, operation: Operation, opened: Opened, repeated: _Repeated) -> None:
        self._operation = operation
        self._opened = opened
        self._repeated = repeated

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        try:
            if self._operation.streams:
                await self._stream(request, receive, send)
                return
            response = await self._respond(request)
        except Refusal as refusal:
            await send_problem(refusal.problem, send)
            return
        except UntilgreenError as error:
            await send_problem(Problem(title="Refused", status=409, detail=str(error)), send)
            return
        except ClientDisconnect:
            return
        except Exception:
            _log.exception("%s failed", self._operation.name)
            await send_problem(
                Problem(title="Internal error", status=500, detail="See the server's log."), send
            )
            return
        await response(scope, receive, send)

    async def _stream(self, request: Request, receive: Receive, send: Send) -> None:
        from untilgreen.surfaces.web.handlers.streams import send_stream

        call = await self._call(request)
        await send_stream(await self._handle(call), call.service, receive, send)

    async def _respond(self, request: Request) -> Response:
        if self._operation.light:
            return _json(await self._function()())
        if self._operation.changes:
            return await self._change(request)
        answer = await self._handle(await self._call(request))
        if isinstance(answer, tuple):
            text, media = answer
            return Response(
                text.encode("utf-8", "replace"), headers={"content-type": media, **_as_file(media)}
            )
        return _json(answer)

    async def _change(self, request: Request) -> Response:
        service = await self._opened()
        if service.read_only:
            raise Refusal(403, "Read-only", "This server only shows runs: it was started with --read-only.")
        person: Person = request.scope["person"]
        if not person.may(self._operation.role):
            detail = f"{person.name} has the role {person.role} here, and this needs {self._operation.role}."
            raise Refusal(403, "Not allowed", detail)
        await _refuse_agents(request, service)
        body = await _body(request)
        key = request.headers.get("idempotency-key", "")[:200]
        if not key:
            return _json(await self._handle(await self._call(request, body)))
        async with self._repeated.once(f"{person.name} {request.url.path} {key}") as entry:
            if entry.body is not None and entry.body != body:
                raise Refusal(
                    422, "Key used before", "This Idempotency-Key was already used with a different body."
                )
            if entry.answer is None:
                entry.body = body
                entry.answer = await self._handle(await self._call(request, body))
            return _json(entry.answer)

    def _function(self) -> Callable[..., Awaitable[Any]]:
        module = import_module(f"untilgreen.surfaces.web.handlers.{self._operation.module}")
        return getattr(module, self._operation.name)  # type: ignore[no-any-return]  # found by its name

    async def _handle(self, call: Call) -> Any:
        return await self._function()(call)

    async def _call(self, request: Request, body: bytes | None = None) -> Call:
        operation = self._operation
        try:
            query = msgspec.convert(dict(request.query_params), operation.query, strict=False)
            parsed = msgspec.json.decode(body, type=operation.body) if body is not None else None
        except (msgspec.ValidationError, msgspec.DecodeError, RecursionError) as error:
            raise Refusal(400, "Bad request", f"{error}.") from error
        return Call(
            service=await self._opened(),
            person=request.scope["person"],
            path=dict(request.path_params),
            query=query,
            body=parsed,
            last_event_id=request.headers.get("last-event-id", ""),
        )


async def _refuse_agents(request: Request, service: Service) -> None:
    from untilgreen.surfaces.web.peer import run_behind

    server = request.scope.get("server")
    if request.client is None or server is None:
        return
    client = (request.client.host, request.client.port)
    run = await to_thread.run_sync(run_behind, client, server[1], service.runs.state_dir)
    if run is not None:
        detail = f"This request comes from a program that run {run} started. Only people may do this."
        raise Refusal(403, "Refused to agents", detail)


class _Entry:
    """One idempotency key: the body it came with, and the answer it got."""

    def __init__(self) -> None:
        self.lock = anyio.Lock()
        self.body: bytes | None = None
        self.answer: Any = None

    async def __aenter__(self) -> _Entry:
        await self.lock.acquire()
        return self

    async def __aexit__(self, *_: object) -> None:
        self.lock.release()


class _Repeated:
    """Remembers the answers to idempotency keys, so that a repeated request does nothing twice."""

    def __init__(self) -> None:
        self._entries: OrderedDict[str, _Entry] = OrderedDict()

    def once(self, key: str) -> _Entry:
        """The entry of a key, for one request at a time."""
        entry = self._entries.setdefault(key, _Entry())
        self._entries.move_to_end(key)
        while len(self._entries) > MOST_KEYS:
            self._entries.popitem(last=False)
        return entry


async def _body(request: Request) -> bytes:
    with anyio.move_on_after(BODY_SECONDS):
        return bytes(await request.body())
    raise Refusal(408, "Timeout", f"The body took longer than {BODY_SECONDS:g} seconds.")


def _as_file(media: str) -> dict[str, str]:
    """A report as HTML is a file to keep, never a page of this server."""
    return {"content-disposition": 'attachment; filename="report.html"'} if "html" in media else {}


def _json(answer: Any) -> Response:
    return Response(msgspec.json.encode(answer), media_type="application/json")


async def _openapi(request: Request) -> Response:
    from untilgreen.surfaces.web.api.openapi import document

    return _json(document())


async def _page(request: Request) -> Response:
    html, policy = page()
    return Response(html, media_type="text/html", headers={"content-security-policy": policy})


async def _asset(request: Request) -> Response:
    found = asset(request.path_params["name"])
    if found is None:
        return await _not_found(request, Exception())
    data, media = found
    return Response(data, media_type=media)


async def _not_found(request: Request, error: Exception) -> Response:
    status = getattr(error, "status_code", 404)
    problem = Problem(title="Not found", status=status, detail="There is nothing at this address.")
    if status == 405:
        allowed = getattr(error, "headers", None) or {}
        detail = f"This address takes {allowed.get('Allow', 'other methods')}, not {request.method}."
        problem = Problem(title="Method not allowed", status=status, detail=detail)
    return Response(msgspec.json.encode(problem), status_code=status, media_type=PROBLEM)
