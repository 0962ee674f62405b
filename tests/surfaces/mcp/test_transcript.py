"""The program on stdin and stdout, line by line, as docs/mcp.md shows it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.surfaces.cli.helpers import repository
from tests.transcripts import same_as_the_page

pytest.importorskip("mcp", reason="the extra [mcp] is not installed")

GIVEN = {"task": "two lines", "agent": "cmd:sh -c 'echo x >> n'", "gates": ["two=test $(wc -l < n) -ge 2"]}
HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "me", "version": "1"}}


class Wire:
    """Exchanges lines of JSON with the program, and records both sides."""

    def __init__(self, project: Path, state: Path) -> None:
        words = ["-m", "untilgreen", "mcp", "-C", str(project), "--state-dir", str(state)]
        self.process = subprocess.Popen(
            [sys.executable, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.lines: list[str] = []
        self.run = ""

    def say(self, method: str, params: Any, number: int | None = None) -> None:
        message = {"method": method, "params": params} | ({"id": number} if number else {})
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.process.stdin.flush()
        self.lines.append(f"> {method} {json.dumps(params)}")

    def hear(self, number: int) -> Any:
        """Wait for the answer; notifications before it are recorded."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            message = json.loads(line)
            if "method" in message:
                told = {key: value for key, value in message["params"].items() if key != "_meta"}
                self.lines.append(f"< {message['method']} {json.dumps(told)}")
            elif message.get("id") == number:
                return message["result"]
        raise AssertionError("the server is gone")

    def call(self, tool: str, given: Any, number: int) -> Any:
        token = {"_meta": {"progressToken": number}} if tool == "run_wait" else {}
        self.say("tools/call", {"name": tool, "arguments": given, **token}, number)
        answer = self.hear(number)
        self.lines.append(f"< {json.dumps(answer['structuredContent'])}")
        return answer["structuredContent"]


@pytest.mark.timeout(120)
def test_the_page_shows_what_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("UNTILGREEN_INSIDE", raising=False)
    wire = Wire(repository(tmp_path / "project", {"n": ""}), tmp_path / "state")
    wire.say("initialize", HELLO, 1)
    hello = wire.hear(1)
    wire.lines.append(
        f"< {json.dumps({'protocolVersion': hello['protocolVersion'], 'serverInfo': 'untilgreen'})}"
    )
    wire.say("notifications/initialized", {})
    run = wire.call("run_start", GIVEN, 2)["run"]
    ended = wire.call("run_wait", {"run": run, "seconds": 50}, 3)
    assert wire.process.stdin is not None
    wire.process.stdin.close()
    assert wire.process.stdout is not None
    assert wire.process.stdout.read() == ""
    wire.process.stdout.close()

    assert wire.process.wait(20) == 0
    assert ended["status"] == "converged"
    assert hello["serverInfo"]["name"] == "untilgreen"
    same_as_the_page("mcp.md", "a run", "\n".join(wire.lines).replace(run, "2pn3fjzqg"))
