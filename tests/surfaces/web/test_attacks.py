"""Attacks on a running server, on loopback, bounded in number and time: slow, large and many."""

import resource
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import httpx
import psutil
import pytest

from tests.surfaces.cli.helpers import Cli, eventually
from tests.surfaces.web.test_server import served
from untilgreen.surfaces.web.guard import LARGEST_BODY
from untilgreen.surfaces.web.handlers.streams import MOST_STREAMS
from untilgreen.surfaces.web.server import MOST_CONNECTIONS

SLOW = 50
MANY = MOST_CONNECTIONS
MEGABYTES = 200


@pytest.fixture
def files() -> Iterator[None]:
    """Allow as many open files as the attackers' connections need."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 2 * MANY:
        pytest.skip(f"A process may open {hard} files here, and this test needs {2 * MANY}.")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 2 * MANY), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@contextmanager
def attackers(client: httpx.Client, count: int) -> Iterator[list[socket.socket]]:
    """Open this many connections to the server."""
    port = client.base_url.port
    assert port is not None
    with ExitStack() as stack:
        yield [
            stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=60))
            for _ in range(count)
        ]


def head(client: httpx.Client, length: Any) -> bytes:
    """The head of a request that is valid except for its body."""
    token = client.headers["authorization"]
    host = f"127.0.0.1:{client.base_url.port}"
    return (
        f"POST /api/v1/plan HTTP/1.1\r\nhost: {host}\r\nauthorization: {token}\r\n"
        f"content-type: application/json\r\ncontent-length: {length}\r\n\r\n"
    ).encode()


def answer(attacker: socket.socket) -> bytes:
    """Everything that the server sends until it closes the connection."""
    found = b""
    try:
        while piece := attacker.recv(65536):
            found += piece
    except ConnectionResetError:
        pass
    return found


def test_requests_that_trickle_in_are_sent_away_and_nobody_else_waits(cli: Cli) -> None:
    with served(cli) as (client, _), attackers(client, 4 * SLOW) as slow:
        silent, heads, bodies, drained = (slow[place::4] for place in range(4))
        for each in heads:
            each.sendall(b"GET /api/v1/runs HTTP/1.1\r\nhost: 127.0.0.1")
        for each in bodies:
            each.sendall(head(client, 1_000) + b'{"workspace"')
        for each in drained:
            each.sendall(head(client, LARGEST_BODY + 1) + b"{")

        assert client.get("/api/v1/runs").status_code == 200
        assert {answer(each) for each in silent} == {b""}
        assert {answer(each) for each in heads} == {b""}
        assert {answer(each)[9:12] for each in bodies} <= {b"408", b""}, "or none, if that takes too long"
        assert {answer(each)[9:12] for each in drained} == {b"413"}
        assert client.get("/api/v1/runs").status_code == 200


def test_a_body_is_never_larger_than_it_says_and_a_large_one_is_not_kept(cli: Cli) -> None:
    with served(cli) as (client, started), attackers(client, SLOW) as senders:
        assert client.get("/api/v1/runs").status_code == 200
        for each in senders:
            each.sendall(head(client, 10**12))
        for each in senders:
            try:
                for _ in range(100):
                    each.sendall(b"x" * 65536)
            except OSError:
                continue  # the server has closed it already
        megabytes = psutil.Process(started.process.pid).memory_info().rss / 1e6

        assert client.get("/api/v1/runs").status_code == 200
    assert megabytes < MEGABYTES


@pytest.mark.usefixtures("files")
def test_a_thousand_connections_leave_a_server_that_answers(cli: Cli) -> None:
    with served(cli) as (client, started):
        assert client.get("/api/v1/runs").status_code == 200
        with attackers(client, MANY):
            crowded = httpx.get(f"{client.base_url}api/v1/health", headers=client.headers, timeout=60)
            megabytes = psutil.Process(started.process.pid).memory_info().rss / 1e6
            assert crowded.status_code in (200, 503)
            eventually(lambda: _answers(client), "an answer once the silent connections are closed")

        assert client.get("/api/v1/runs").status_code == 200
        assert megabytes < MEGABYTES


def test_one_stream_too_many_is_refused_and_the_others_stay(cli: Cli) -> None:
    with served(cli) as (client, _), attackers(client, MOST_STREAMS) as readers:
        token, host = client.headers["authorization"], f"127.0.0.1:{client.base_url.port}"
        for each in readers:
            each.sendall(
                f"GET /api/v1/events HTTP/1.1\r\nhost: {host}\r\nauthorization: {token}\r\n\r\n".encode()
            )
        assert {each.recv(12)[9:] for each in readers} == {b"200"}

        refused = client.get("/api/v1/events")

        assert refused.status_code == 503
        assert refused.json()["detail"] == f"{MOST_STREAMS} streams are open. Close a page and try again."
        assert client.get("/api/v1/runs").status_code == 200


def _answers(client: httpx.Client) -> bool:
    try:
        return httpx.get(f"{client.base_url}api/v1/runs", headers=client.headers).status_code == 200
    except httpx.HTTPError:
        return False
