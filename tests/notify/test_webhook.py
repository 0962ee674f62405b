"""webhook: the message as JSON to a real server, with secrets from variables and failures in words."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from untilgreen.core.values.events import Event
from untilgreen.core.values.state import RunState
from untilgreen.errors import ConfigError, UntilgreenError
from untilgreen.notify import webhook
from untilgreen.notify.webhook import Webhook

Ended = tuple[Event, RunState]


class Server(HTTPServer):
    """Keeps what it gets; it gives the statuses in `answers` first, then 204."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.got: list[tuple[dict[str, str], Any]] = []
        self.answers: list[int] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/hook"


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        server = self.server
        assert isinstance(server, Server)
        body = self.rfile.read(int(self.headers["Content-Length"]))
        server.got.append((dict(self.headers.items()), json.loads(body)))
        self.send_response(server.answers.pop(0) if server.answers else 204)
        self.end_headers()

    def log_message(self, *arguments: object) -> None:
        """Log nothing."""


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


async def test_the_news_arrives_as_json_with_headers_from_variables(
    ended: Ended, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOOK_URL", server.url)
    monkeypatch.setenv("HOOK_TOKEN", "s3cret")

    await Webhook(url="${HOOK_URL}", headers={"Authorization": "Bearer ${HOOK_TOKEN}"}).notify(*ended)

    ((headers, told),) = server.got
    assert headers["Authorization"] == "Bearer s3cret"
    assert headers["Content-Type"] == "application/json"
    assert (told["news"], told["run"], told["outcome"]) == ("finished", "r1", "converged")


async def test_a_server_that_stumbles_is_asked_again(
    ended: Ended, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webhook, "PAUSE_SECONDS", 0.01)
    server.answers = [500, 503]

    await Webhook(url=server.url).notify(*ended)

    assert len(server.got) == 3


async def test_a_server_that_refuses_is_reported_without_the_secret_part_of_its_address(
    ended: Ended, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webhook, "PAUSE_SECONDS", 0.01)
    server.answers = [403] * 3

    with pytest.raises(UntilgreenError, match=r"^127\.0\.0\.1 answered 403 Forbidden$"):
        await Webhook(url=f"{server.url}/s3cret").notify(*ended)


@pytest.mark.parametrize(
    ("path", "headers"), [("/s3cret\x7f", {}), ("", {"Authorization": "s3cret\n\nx"}), ("/s3cret x", {})]
)
async def test_an_address_or_a_header_that_can_not_be_sent_is_not_repeated(
    ended: Ended,
    server: Server,
    monkeypatch: pytest.MonkeyPatch,
    path: str,
    headers: dict[str, str],
) -> None:
    monkeypatch.setattr(webhook, "PAUSE_SECONDS", 0.01)
    monkeypatch.setenv("HOOK_URL", server.url + path)

    with pytest.raises(UntilgreenError, match="check its address and its headers") as caught:
        await Webhook(url="${HOOK_URL}", headers=headers).notify(*ended)

    assert "s3cret" not in str(caught.value)


async def test_a_variable_that_is_not_set_is_reported(ended: Ended) -> None:
    with pytest.raises(UntilgreenError, match="the variable NO_SUCH_HOOK is not set"):
        await Webhook(url="${NO_SUCH_HOOK}").notify(*ended)


@pytest.mark.parametrize("url", ["", "example.org/x", "file:///etc/passwd", "ftp://example.org"])
def test_an_invalid_address_is_an_error_before_the_run(url: str) -> None:
    with pytest.raises(ConfigError, match="not an http or https address"):
        Webhook(url=url)
