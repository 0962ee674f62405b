"""`/mcp` of `serve`: the SDK's own client over real HTTP on the loopback, and what the guard refuses."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.surfaces.cli.helpers import repository
from tests.surfaces.web.helpers import keep
from untilgreen.engine.store.runs import Store

pytest.importorskip("mcp", reason="the extra [mcp] is not installed")

pytestmark = [pytest.mark.timeout(120), pytest.mark.filterwarnings("ignore")]
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    },
}
ACCEPT = {"accept": "application/json, text/event-stream"}


class Served:
    """`untilgreen serve` as a process, and clients of it."""

    def __init__(self, project: Path, state: Path, *flags: str) -> None:
        self.project, self.state = project, state
        words = ["serve", "--root", str(project), "--port", "0", "--state-dir", str(state), *flags]
        env = {name: value for name, value in os.environ.items() if name != "UNTILGREEN_INSIDE"}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "untilgreen", *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=project,
            env=env,
        )
        assert self.process.stdout is not None
        said = ""
        for line in self.process.stdout:
            said += line
            if found := re.search(r"(http://\S+)/#(\S+)", line):
                self.base, self.token = found[1], found[2]
                return
        raise AssertionError(said)

    def end(self) -> None:
        self.process.terminate()
        self.process.communicate(timeout=30)

    def talk(self, talk: Callable[[Any], Awaitable[Any]], mode: str = "auto", **how: Any) -> Any:
        import httpx2
        from mcp.client import Client
        from mcp.client.streamable_http import streamable_http_client

        async def main() -> Any:
            headers = {"authorization": f"Bearer {self.token}"}
            async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
                transport = streamable_http_client(f"{self.base}/mcp", http_client=http)
                async with Client(transport, mode=mode, **how) as client:
                    return await talk(client)

        return anyio.run(main)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return repository(tmp_path / "project", {"n": ""})


@pytest.fixture
def served(place: Path) -> Iterator[Served]:
    server = Served(place, place.parent / "state")
    yield server
    server.end()


async def waited(client: Any, run: str) -> Any:
    for _ in range(10):
        ended = await client.call_tool("run_wait", {"run": run, "seconds": 20})
        if ended.structured_content["status"] != "running":
            break
    return ended.structured_content


def test_a_client_starts_runs_within_the_limits_in_both_eras(served: Served, tmp_path: Path) -> None:
    given = {"task": "a line", "agent": "cmd:sh -c 'echo x >> n'", "gates": ["one=test -s n"]}

    async def talk(client: Any) -> Any:
        begun = await client.call_tool("run_start", given)
        assert not begun.is_error, begun.content[0].text
        return await waited(client, begun.structured_content["run"])

    async def elsewhere(client: Any) -> Any:
        return await client.call_tool("run_start", {**given, "directory": str(tmp_path)})

    assert served.talk(talk)["status"] == "converged"
    assert served.talk(talk, mode="legacy")["status"] == "converged"
    refused = served.talk(elsewhere)
    assert refused.is_error
    assert "Runs may be started in" in refused.content[0].text


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_question_reaches_the_person_at_the_client(served: Served, mode: str) -> None:
    from mcp_types import ElicitResult

    shown: list[str] = []

    async def person(context: Any, params: Any) -> ElicitResult:
        shown.append(params.message)
        return ElicitResult(action="cancel")

    async def talk(client: Any) -> Any:
        run = await keep(Store(served.state), served.project, "asking")
        return await client.call_tool("run_wait", {"run": run, "seconds": 1})

    said = served.talk(talk, mode=mode, elicitation_callback=person)

    assert said.structured_content["question"].startswith("Lap 1 scored 0.00")
    assert [each[:17] for each in shown] == ["Lap 1 scored 0.00"]


def test_the_guard_of_the_api_protects_it_too(served: Served) -> None:
    import httpx

    right = {"authorization": f"Bearer {served.token}", **ACCEPT}
    asked: list[tuple[dict[str, str], int]] = [
        (ACCEPT, 401),
        ({**right, "authorization": "Bearer nope"}, 401),
        ({**right, "host": "evil.example"}, 421),
        ({**right, "origin": "http://evil.example"}, 403),
        ({**right, "sec-fetch-site": "cross-site"}, 403),
        ({**right, "content-type": "text/plain"}, 415),
        (right, 200),
    ]
    for headers, status in asked:
        answer = httpx.post(f"{served.base}/mcp", json=HELLO, headers=headers, timeout=60)
        assert answer.status_code == status, (headers, answer.text)
    large = httpx.post(f"{served.base}/mcp", json={"x": "y" * 2_000_000}, headers=right)
    assert large.status_code == 413


def test_an_agent_of_a_run_is_refused_whatever_it_knows(served: Served) -> None:
    code = (
        "import sys, urllib.request as u, urllib.error as e\n"
        f"h = {{'Authorization': 'Bearer {served.token}', 'Content-Type': 'application/json'}}\n"
        f"r = u.Request('{served.base}/mcp', data=b'{{}}', headers=h)\n"
        "try: print(u.urlopen(r).status)\n"
        "except e.HTTPError as x: print(x.code, x.read().decode())\n"
    )
    run = anyio.run(keep, Store(served.state), served.project, "green")
    env = {**os.environ, "UNTILGREEN_INSIDE": run}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)

    assert done.stdout.startswith("403")
    assert "Refused to agents" in done.stdout


def test_a_read_only_server_offers_only_tools_that_view(place: Path) -> None:
    server = Served(place, place.parent / "state", "--read-only")

    async def talk(client: Any) -> list[str]:
        return [tool.name for tool in (await client.list_tools()).tools]

    try:
        found = server.talk(talk)
    finally:
        server.end()

    assert found == ["run_wait", "run_status", "run_why", "run_diff", "backtest"]
