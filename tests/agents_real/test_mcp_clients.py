"""Real clients of MCP: Claude Code adds the server and connects, the Inspector lists and calls tools."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.agents_real.bench import Bench
from tests.agents_real.clis import INSPECTOR, programs
from tests.surfaces.web.test_mcp_mount import Served

pytest.importorskip("mcp", reason="the extra [mcp] is not installed")

claude_only = pytest.mark.parametrize("agent", ["claude"], indirect=True)


class Client:
    """A program that talks to the server of one bench."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench

    @property
    def server(self) -> list[str]:
        where = ["-C", str(self.bench.project), "--state-dir", str(self.bench.state)]
        return [sys.executable, "-m", "untilgreen", "mcp", *where]

    def run(self, *words: str) -> str:
        done = subprocess.run(
            words,
            cwd=self.bench.project,
            env={**os.environ, "HOME": str(self.bench.home)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=110,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


@pytest.fixture
def client(bench: Bench) -> Iterator[Client]:
    with bench.model([{"text": "hello"}]):
        yield Client(bench)


@claude_only
def test_claude_code_adds_the_server_and_connects(client: Client) -> None:
    client.run("claude", "mcp", "add", "untilgreen", "--", *client.server)

    assert "✔ Connected" in client.run("claude", "mcp", "list")


@claude_only
def test_claude_code_connects_over_http(client: Client) -> None:
    served = Served(client.bench.project, client.bench.state)
    try:
        header = f"Authorization: Bearer {served.token}"
        add = ["claude", "mcp", "add", "--transport", "http", "untilgreen", f"{served.base}/mcp"]
        client.run(*add, "--header", header)
        assert "✔ Connected" in client.run("claude", "mcp", "list")
    finally:
        served.end()


@claude_only
def test_the_inspector_lists_and_calls(client: Client, tmp_path: Path) -> None:
    program = programs(INSPECTOR) / INSPECTOR.program
    if not program.exists():
        pytest.skip("the Inspector is not installed: make test-agents AGENTS=claude")
    inspect = [str(program), "--cli", *client.server]

    tools = json.loads(client.run(*inspect, "--method", "tools/list"))["tools"]
    called = client.run(
        *inspect, "--method", "tools/call", "--tool-name", "check", "--tool-arg", 'gates=["yes=true"]'
    )
    prompts = json.loads(client.run(*inspect, "--method", "prompts/list"))["prompts"]
    resources = json.loads(client.run(*inspect, "--method", "resources/list"))["resources"]

    assert "run_start" in [tool["name"] for tool in tools]
    assert json.loads(called)["structuredContent"]["green"] is True
    assert [each["name"] for each in prompts] == ["until_green", "review_run"]
    assert [each["uri"] for each in resources] == ["untilgreen://runs"]
