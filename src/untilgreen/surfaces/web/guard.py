"""Refuse what the page of this server would never send, before any operation sees it.

Plain ASGI: middleware that wraps the answer would break streams.
"""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Collection, Mapping, MutableMapping
from typing import Any

import msgspec

from untilgreen.surfaces.web.api.operations import MCP, PREFIX
from untilgreen.surfaces.web.api.requests import PROBLEM, Problem
from untilgreen.surfaces.web.people import Person, Proxy

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

LARGEST_BODY = 1_000_000
HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"x-frame-options", b"DENY"),
)


class Refusal(Exception):
    """An answer that is a problem document."""

    def __init__(self, status: int, title: str, detail: str) -> None:
        super().__init__(detail)
        self.problem = Problem(title=title, status=status, detail=detail)


class Guard:
    """Checks Host, Origin, token, method, size and type of requests, and adds headers to answers."""

    def __init__(
        self, app: App, *, hosts: Collection[str], token: str, me: str, proxy: Proxy | None = None
    ) -> None:
        """`hosts` are the exact values of the Host header that are served; `me` has the token."""
        self._app = app
        self._hosts = frozenset(hosts)
        self._origins = frozenset(f"{scheme}://{host}" for scheme in ("http", "https") for host in hosts)
        self._token = token.encode()
        self._me = Person(name=me, role="admin")
        self._proxy = proxy

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":  # a WebSocket, which nothing here speaks
            await send({"type": "websocket.close", "code": 1008})
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                named = {name for name, _ in message.get("headers", ())}
                extra = [pair for pair in HEADERS if pair[0] not in named]
                message = {**message, "headers": [*message.get("headers", ()), *extra]}
            await send(message)

        try:
            self._check(scope)
        except Refusal as refusal:
            await send_problem(refusal.problem, with_headers)
            return
        await self._app(scope, receive, with_headers)

    def _check(self, scope: Scope) -> None:
        head = _headers(scope)
        if head.get("host") not in self._hosts:
            raise Refusal(421, "Misdirected request", "This server does not answer to that name.")
        api = scope["path"].startswith(PREFIX) or scope["path"] == MCP
        self._check_site(scope, head, api=api)
        if any(
            name in scope["query_string"].lower() for name in (b"token=", b"access_token=", b"authorization=")
        ):
            detail = "Send the token in the Authorization header; addresses end up in logs."
            raise Refusal(400, "Token in the address", detail)
        if api:
            scope["person"] = self._person(scope, head)
        _check_body(scope, head)

    def _check_site(self, scope: Scope, head: Mapping[str, str], *, api: bool) -> None:
        """Only our page may call the API; a link from elsewhere may open the page, which holds no secret."""
        origin = head.get("origin")
        if origin is not None and origin not in self._origins:
            raise Refusal(403, "Cross-site request", "Requests from other sites are refused.")
        site = head.get("sec-fetch-site", "none")
        opens_the_page = not api and scope["method"] == "GET" and head.get("sec-fetch-mode") == "navigate"
        if site not in ("none", "same-origin") and not opens_the_page:
            raise Refusal(403, "Cross-site request", "Requests from other sites are refused.")

    def _person(self, scope: Scope, head: Mapping[str, str]) -> Person:
        """The caller: the holder of the token, or somebody the proxy vouches for."""
        kind, _, given = head.get("authorization", "").partition(" ")
        right = secrets.compare_digest(given.encode("utf-8", "surrogateescape"), self._token)
        if kind.lower() == "bearer" and right:
            return self._me
        if self._proxy is not None and (found := self._proxy.person((scope.get("client") or ("",))[0], head)):
            return found
        detail = "The token is missing or wrong. Open the address that `untilgreen serve` printed."
        raise Refusal(401, "Unauthorized", detail)


def _check_body(scope: Scope, head: Mapping[str, str]) -> None:
    ends_a_session = scope["method"] == "DELETE" and scope["path"] == MCP
    if scope["method"] not in ("GET", "HEAD", "POST") and not ends_a_session:
        raise Refusal(405, "Method not allowed", f"{scope['method']} is not used here.")
    length = head.get("content-length", "0")
    if "transfer-encoding" in head or not length.isdecimal():
        raise Refusal(411, "Length required", "Send the body with a Content-Length.")
    if int(length) > LARGEST_BODY:
        raise Refusal(413, "Too large", f"The body must not exceed {LARGEST_BODY:,} bytes.")
    if (
        scope["method"] == "POST"
        and head.get("content-type", "").partition(";")[0].strip() != "application/json"
    ):
        raise Refusal(415, "Unsupported media type", "Send application/json.")


def _headers(scope: Scope) -> dict[str, str]:
    """A header that occurs twice has no valid value: two readers could read different ones."""
    found: dict[str, str] = {}
    for name, value in scope["headers"]:
        key = name.decode("latin-1")
        found[key] = "\0" if key in found else value.decode("latin-1")
    return found


async def send_problem(problem: Problem, send: Send) -> None:
    """Answer with a problem document."""
    body = msgspec.json.encode(problem)
    headers = [(b"content-type", PROBLEM.encode()), (b"content-length", str(len(body)).encode())]
    if problem.status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": problem.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
