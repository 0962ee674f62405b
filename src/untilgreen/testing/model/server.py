"""The scripted model on a port of this machine: it plays a scenario and remembers what it was asked.

It uses threads of the standard library, since the agents that it serves run in processes of their own.
"""

from __future__ import annotations

import gzip
import json
import socket
import struct
import threading
from collections.abc import Iterable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self
from urllib.parse import unquote, urlsplit

from untilgreen.regex import regex
from untilgreen.testing.model import anthropic, chat, gemini, responses
from untilgreen.testing.model.answer import StreamEvent, Tokens, ToSay
from untilgreen.testing.model.request import Api, Asked, read_request
from untilgreen.testing.model.scenario import Answer, Scenario, scenario_of
from untilgreen.testing.model.tools import filled, resolve

_FORMS = {"anthropic": anthropic, "chat": chat, "responses": responses, "gemini": gemini}
_KINDS = {
    401: ("authentication_error", "invalid x-api-key"),
    402: ("billing_error", "payment required"),
    403: ("permission_error", "forbidden"),
    404: ("not_found_error", "model not found"),
    429: ("rate_limit_error", "rate limit exceeded"),
    500: ("api_error", "internal server error"),
    503: ("overloaded_error", "overloaded"),
    529: ("overloaded_error", "overloaded"),
}
_GEMINI = regex(r"models/([^/:]+):(stream)?[gG]enerateContent$")


class ScriptedModel:
    """A model server on loopback for the length of a `with` block; agents are pointed at its `url`.

    >>> with ScriptedModel([{"text": "Nothing to do."}]) as model:
    ...     model.url.startswith("http://127.0.0.1:")
    True
    """

    def __init__(
        self, scenario: Any, *, port: int = 0, models: Iterable[str] = ("scripted-1",), **vars: str
    ) -> None:
        """A scenario as a value, or as `load_scenario` returns it; keywords fill `${name}` in its texts."""
        self.scenario = scenario_of(scenario, **vars)
        self.models = tuple(models)
        self.requests: list[Asked] = []
        """Every request for an answer, side requests included."""
        self.closing = threading.Event()
        self._lock = threading.Lock()
        self._turn = 0
        self._server = _Server(("127.0.0.1", port), self)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def turns(self) -> int:
        """How many answers of the script were given."""
        return self._turn

    def next_answer(self, asked: Asked) -> Answer:
        """The answer to this request; a side request uses up none of the script's."""
        with self._lock:
            self.requests.append(asked)
            if self.scenario.side.takes(asked.last_user, tools=bool(asked.tools)):
                shape = asked.schema
                return Answer(
                    text=self.scenario.side.text if shape is None else json.dumps(filled(shape, {}))
                )
            self._turn += 1
            return self.scenario.answer(self._turn - 1)


class _Dropped(Exception):
    """The connection is cut on purpose."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def __init__(self, address: tuple[str, int], model: ScriptedModel) -> None:
        self.model = model
        super().__init__(address, _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore an agent that disconnects in the middle of an answer."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing: the requests are kept anyway."""

    def do_HEAD(self) -> None:
        self._json(200, {})

    def do_GET(self) -> None:
        path = unquote(urlsplit(self.path).path).rstrip("/")
        if not path.endswith("/models"):
            self._json(404, chat.failure(404, "not_found_error", f"scripted: there is no {path}"))
            return
        known = [
            {"id": name, "object": "model", "type": "model", "display_name": name}
            for name in self._model.models
        ]
        named = [{"name": f"models/{name}", "displayName": name} for name in self._model.models]
        self._json(200, {"object": "list", "has_more": False, "data": known, "models": named})

    def do_POST(self) -> None:
        try:
            self._answer()
        except (_Dropped, ConnectionError):
            self.close_connection = True

    @property
    def _model(self) -> ScriptedModel:
        return self.server.model

    def _answer(self) -> None:
        path, raw = unquote(urlsplit(self.path).path), self._body()
        body = json.loads(raw or b"{}")
        if path.endswith(("/count_tokens", ":countTokens")):
            self._json(200, {"input_tokens": len(raw) // 4, "totalTokens": len(raw) // 4})
            return
        found = _api(path, body)
        if found is None:
            self._json(404, chat.failure(404, "not_found_error", f"scripted: there is no {path}"))
            return
        api, model, stream = found
        asked = read_request(api, body, model=model, stream=stream, size=len(raw))
        self._play(self._model.next_answer(asked), asked)

    def _body(self) -> bytes:
        if "chunked" in (self.headers.get("transfer-encoding") or "").lower():
            parts = []
            while size := int(self.rfile.readline().split(b";")[0].strip() or b"0", 16):
                parts.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            raw = b"".join(parts)
        else:
            raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        return gzip.decompress(raw) if self.headers.get("content-encoding") == "gzip" else raw

    def _play(self, answer: Answer, asked: Asked) -> None:
        self._wait(answer.delay)
        form = _FORMS[asked.api]
        if answer.error is not None:
            kind, words = _KINDS.get(
                answer.error, ("api_error" if answer.error >= 500 else "invalid_request_error",) * 2
            )
            failure = answer.body or form.failure(answer.error, kind, answer.message or f"scripted: {words}")
            after = {} if answer.retry_after is None else {"retry-after": f"{answer.retry_after:g}"}
            self._json(answer.error, failure, {**after, **answer.headers})
            return
        if answer.drop_after == 0:
            self._drop()
        say = _to_say(answer, asked, self._model.scenario)
        if asked.stream:
            self._stream(form.stream(say), form.broken(), answer)
            return
        if answer.drop_after is not None:
            self._drop()
        self._wait(answer.hang)
        self._json(200, form.whole(say), answer.headers)

    def _stream(self, events: Iterable[StreamEvent], broken: StreamEvent, answer: Answer) -> None:
        self.send_response(200)
        form = {"content-type": "text/event-stream", "transfer-encoding": "chunked"}
        for header, text in {**form, **answer.headers}.items():
            self.send_header(header, text)
        self.end_headers()
        for number, event in enumerate(events):
            if answer.drop_after is not None and number >= answer.drop_after:
                self._drop()
            fails = answer.stream_error and number == 2
            name, value = broken if fails else event
            data = value if isinstance(value, str) else json.dumps(value)
            self._chunk(f"event: {name}\ndata: {data}\n\n" if name else f"data: {data}\n\n")
            if fails:
                break
            self._wait(answer.hang if number == 1 else 0)
            self._wait(answer.chunk_delay)
        self.wfile.write(b"0\r\n\r\n")

    def _chunk(self, text: str) -> None:
        data = text.encode()
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def _wait(self, seconds: float) -> None:
        """Let time pass, unless the server is closing."""
        if seconds and self._model.closing.wait(seconds):
            raise _Dropped

    def _drop(self) -> None:
        """Cut the connection as a crashed proxy would: without a goodbye."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        raise _Dropped

    def _json(self, status: int, value: Any, headers: dict[str, str] | None = None) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        common = {
            "content-type": "application/json",
            "content-length": str(len(data)),
            "request-id": "req_scripted",
        }
        for name, text in {**common, **(headers or {})}.items():
            self.send_header(name, text)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)


def _api(path: str, body: dict[str, Any]) -> tuple[Api, str, bool] | None:
    """The API that a path belongs to, the model, and whether to stream; None for any other path."""
    if found := _GEMINI.search(path):
        return "gemini", found[1], found[2] is not None
    stream, model = bool(body.get("stream")), str(body.get("model", ""))
    ends: dict[str, Api] = {"/messages": "anthropic", "/chat/completions": "chat", "/responses": "responses"}
    return next(((api, model, stream) for end, api in ends.items() if path.endswith(end)), None)


def _to_say(answer: Answer, asked: Asked, scenario: Scenario) -> ToSay:
    text, uses = resolve(answer, asked, scenario)
    said, figures = len(text) + sum(len(json.dumps(use.args)) + len(use.input) for use in uses), answer.usage
    return ToSay(
        model=asked.model,
        text=text,
        uses=tuple(uses),
        tokens=Tokens(
            input=asked.size // 4 if figures.input is None else figures.input,
            output=max(1, said // 4) if figures.output is None else figures.output,
            cache_read=figures.cache_read,
            cache_write=figures.cache_write,
        ),
        chunk=answer.chunk,
    )
