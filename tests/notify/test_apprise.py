"""apprise: real messages through the real package, to a server on this machine."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from untilgreen.core.values.events import Event
from untilgreen.core.values.state import RunState
from untilgreen.errors import ConfigError, UntilgreenError
from untilgreen.notify.apprise import Apprise

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of plugins that Apprise loads


class Inbox(HTTPServer):
    """Keeps what is posted to it."""

    got: list[dict[str, str]]


class Taking(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        assert isinstance(self.server, Inbox)
        self.server.got.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None: ...


@pytest.fixture
def inbox() -> Iterator[Inbox]:
    with Inbox(("127.0.0.1", 0), Taking) as server:
        server.got = []
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


async def test_a_message_has_outcome_reason_and_the_command(
    ended: tuple[Event, RunState], inbox: Inbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WHERE", f"127.0.0.1:{inbox.server_port}")

    await Apprise(url="json://${WHERE}/").notify(*ended)

    (told,) = inbox.got
    assert (told["title"], told["type"]) == ("untilgreen: converged", "success")
    assert "all required gates pass" in told["message"]
    assert told["message"].endswith("untilgreen show r1")


async def test_a_service_that_does_not_answer_is_an_error_without_the_address(
    ended: tuple[Event, RunState],
) -> None:
    with pytest.raises(UntilgreenError, match=r"^json did not accept the message$"):
        await Apprise(url="json://user:hunter2@127.0.0.1:9/").notify(*ended)


def test_an_invalid_address_is_refused_without_its_secrets() -> None:
    with pytest.raises(ConfigError, match="is not one that Apprise knows") as caught:
        Apprise(url="nope://hunter2")

    assert "hunter2" not in str(caught.value)
