"""An editor that speaks the Agent Client Protocol to a real `untilgreen acp`."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

SPEC = """
task = "unused"
agent = "{agent}"
strategy = {strategy}

[gates.three]
run = "{gate}"
"""
LINE = "echo I wrote a line; echo x >> lines"
THREE = "test $(wc -l < lines) -ge 3"


class Editor:
    """The client's side of the protocol."""

    def __init__(self, project: Path, state: Path) -> None:
        self.project, self.state = project, state
        self.process = subprocess.Popen(
            [sys.executable, "-m", "untilgreen", "acp", "--state-dir", str(state)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.heard: list[dict[str, Any]] = []
        self.said: list[dict[str, Any]] = []
        self.numbers = 0
        self.answers: dict[str, Any] | None = {"outcome": "selected", "optionId": "continue"}
        """The answer to every permission request; None leaves them open."""

    def spec(
        self,
        *,
        turn: str = LINE,
        agent: str = "",
        gate: str = THREE,
        strategy: str = '"hybrid"',
        trust: bool = True,
    ) -> None:
        agent = agent or f"cmd:sh -c 'cat > /dev/null; {turn}'"
        text = SPEC.replace("{agent}", agent).replace("{gate}", gate).replace("{strategy}", strategy)
        (self.project / "untilgreen.toml").write_text(text)
        if trust:
            assert self.untilgreen("trust", "--yes")[0] == 0

    def untilgreen(self, *words: str) -> tuple[int, str]:
        """Run another command, as in a terminal; its exit code and output."""
        done = subprocess.run(
            [sys.executable, "-m", "untilgreen", *words, "--state-dir", str(self.state)],
            cwd=self.project,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout

    def send(self, **message: Any) -> None:
        assert self.process.stdin is not None
        self.said.append(message)
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.process.stdin.flush()

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        return self.wait(self.begin(method, **params))

    def begin(self, method: str, **params: Any) -> int:
        """Send a request without waiting for its answer; its id."""
        self.numbers += 1
        self.send(id=self.numbers, method=method, params=params)
        return self.numbers

    def wait(self, number: int) -> dict[str, Any]:
        """Wait for the answer to a request."""
        self.until(lambda heard: heard.get("id") == number and "method" not in heard)
        return self.heard.pop()

    def until(self, happened: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Read messages up to the first that matches, and return it."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            message: dict[str, Any] = json.loads(line)
            self.heard.append(message)
            if message.get("method") == "session/request_permission" and self.answers is not None:
                self.send(id=message["id"], result={"outcome": self.answers})
            if happened(message):
                return message
        raise AssertionError("The agent is gone.")

    def session(self) -> str:
        self.ask("initialize", protocolVersion=1, clientCapabilities={})
        return str(self.ask("session/new", cwd=str(self.project), mcpServers=[])["result"]["sessionId"])

    def prompt(self, session: str, text: str = "Write three lines.") -> dict[str, Any]:
        return self.wait(self.begin_prompt(session, text))

    def begin_prompt(self, session: str, text: str = "Write three lines.") -> int:
        return self.begin("session/prompt", sessionId=session, prompt=[{"type": "text", "text": text}])

    def updates(self, kind: str) -> list[dict[str, Any]]:
        every = [each["params"]["update"] for each in self.heard if each.get("method") == "session/update"]
        return [each for each in every if each["sessionUpdate"] == kind]

    def text(self) -> str:
        return "".join(each["content"]["text"] for each in self.updates("agent_message_chunk"))

    @property
    def run(self) -> str:
        """The id of the run, as the editor shows it."""
        return self.text().split()[1]

    def begins_lap(self, number: int) -> Callable[[dict[str, Any]], bool]:
        """The condition, for `until`, that this lap begins."""
        return lambda heard: (
            heard.get("params", {}).get("update", {}).get("title", "").startswith(f"Lap {number}:")
        )

    def close(self) -> int:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        code = self.process.wait(40)
        self.process.stdout.close()
        return code
