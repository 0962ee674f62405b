"""untilgreen as an agent in an editor: a real process, spoken to as an editor would."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

SPEC = """
task = "unused"
agent = "cmd:sh -c 'cat > /dev/null; echo I wrote a line; echo x >> lines'"
strategy = {strategy}

[gates.three]
run = "{gate}"
"""


class Editor:
    """The other side of the protocol."""

    def __init__(self, project: Path, state: Path) -> None:
        self.project, self.state = project, state
        self.process = subprocess.Popen(
            [sys.executable, "-m", "untilgreen", "acp", "--state-dir", str(state)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.heard: list[dict[str, Any]] = []
        self.numbers = 0
        self.answers = "continue"

    def send(self, **message: Any) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.process.stdin.flush()

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        self.numbers += 1
        self.send(id=self.numbers, method=method, params=params)
        return self.wait(self.numbers)

    def wait(self, number: int) -> dict[str, Any]:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            message: dict[str, Any] = json.loads(line)
            if message.get("method") == "session/request_permission":
                self.heard.append(message)
                chosen = {"outcome": "selected", "optionId": self.answers}
                self.send(id=message["id"], result={"outcome": chosen})
            elif message.get("id") == number:
                return message
            else:
                self.heard.append(message)
        raise AssertionError("The agent is gone.")

    def session(self) -> str:
        self.ask("initialize", protocolVersion=1, clientCapabilities={})
        return str(self.ask("session/new", cwd=str(self.project), mcpServers=[])["result"]["sessionId"])

    def prompt(self, session: str, text: str = "Write three lines.") -> dict[str, Any]:
        return self.ask("session/prompt", sessionId=session, prompt=[{"type": "text", "text": text}])

    def updates(self, kind: str) -> list[dict[str, Any]]:
        every = [each["params"]["update"] for each in self.heard if each.get("method") == "session/update"]
        return [each for each in every if each["sessionUpdate"] == kind]

    def text(self) -> str:
        return "".join(each["content"]["text"] for each in self.updates("agent_message_chunk"))

    def close(self) -> int:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        code = self.process.wait(20)
        self.process.stdout.close()
        return code


@pytest.fixture
def editor(tmp_path: Path) -> Iterator[Editor]:
    project = tmp_path / "project"
    project.mkdir()
    subprocess.run(["git", "init", "-q", "."], cwd=project, check=True)
    editor = Editor(project, tmp_path / "state")
    yield editor
    if editor.process.poll() is None:
        editor.close()


def spec(
    editor: Editor,
    *,
    gate: str = "test $(wc -l < lines) -ge 3",
    strategy: str = '"hybrid"',
    trust: bool = True,
) -> None:
    text = SPEC.replace("{gate}", gate).replace("{strategy}", strategy)
    (editor.project / "untilgreen.toml").write_text(text)
    if trust:
        command = [sys.executable, "-m", "untilgreen", "trust", "--yes", "--state-dir", str(editor.state)]
        subprocess.run(command, cwd=editor.project, check=True, capture_output=True)


def test_a_prompt_is_a_run_with_laps_and_gates_as_tool_calls(editor: Editor) -> None:
    spec(editor)

    answer = editor.prompt(editor.session())

    assert answer["result"] == {"stopReason": "end_turn"}
    assert "**converged**: all required gates pass in lap 3" in editor.text()
    calls = {each["toolCallId"]: each for each in editor.updates("tool_call")}
    assert {"lap-1", "lap-2", "lap-3", "gate-3-three"} <= set(calls)
    assert (calls["gate-1-three"]["status"], calls["gate-3-three"]["status"]) == ("failed", "completed")
    done = [each for each in editor.updates("tool_call_update") if each["toolCallId"] == "lap-3"]
    assert "I wrote a line" in done[-1]["content"][0]["content"]["text"]
    plan = editor.updates("plan")[-1]["entries"]
    assert ("three", "completed") in [(each["content"], each["status"]) for each in plan]
    assert editor.close() == 0


def test_a_question_is_a_permission_request(editor: Editor) -> None:
    spec(editor, strategy='"manual"', gate="false")
    editor.answers = "stop"

    editor.prompt(editor.session())

    (asked,) = [each for each in editor.heard if each.get("method") == "session/request_permission"]
    assert "stop" in [each["optionId"] for each in asked["params"]["options"]]


def test_cancel_ends_the_turn_at_once_and_leaves_nothing_running(editor: Editor) -> None:
    spec(editor)
    text = (
        (editor.project / "untilgreen.toml").read_text().replace("echo I wrote", "sleep 5432; echo I wrote")
    )
    (editor.project / "untilgreen.toml").write_text(text)
    spec_trust = [sys.executable, "-m", "untilgreen", "trust", "--yes", "--state-dir", str(editor.state)]
    subprocess.run(spec_trust, cwd=editor.project, check=True, capture_output=True)
    session = editor.session()
    editor.numbers += 1
    blocks = [{"type": "text", "text": "Go."}]
    editor.send(id=editor.numbers, method="session/prompt", params={"sessionId": session, "prompt": blocks})
    assert editor.process.stdout is not None
    for line in editor.process.stdout:
        editor.heard.append(json.loads(line))
        if any(each["toolCallId"] == "lap-1" for each in editor.updates("tool_call")):
            break
    time.sleep(0.5)
    editor.send(method="session/cancel", params={"sessionId": session})

    assert editor.wait(editor.numbers)["result"] == {"stopReason": "cancelled"}
    running = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert "sleep 5432" not in running


def test_a_spec_that_nobody_trusts_is_not_run(editor: Editor) -> None:
    spec(editor, trust=False)

    answer = editor.prompt(editor.session())

    assert "untilgreen trust" in answer["error"]["message"]
    assert not (editor.project / "lines").exists()


def test_a_session_shows_a_run_again(editor: Editor) -> None:
    spec(editor)
    editor.prompt(editor.session())
    run = editor.text().split()[1]
    editor.heard.clear()

    answer = editor.ask("session/load", sessionId=run, cwd=str(editor.project), mcpServers=[])

    assert answer["result"] == {}
    assert "**converged**" in editor.text()


def test_nonsense_gets_an_error_and_ends_nothing(editor: Editor) -> None:
    assert editor.process.stdin is not None
    session = editor.session()
    editor.process.stdin.write("{broken\n[1]\n\n")
    editor.process.stdin.flush()

    assert editor.ask("session/fly")["error"]["code"] == -32601
    assert editor.ask("session/new", cwd="nowhere")["error"]["code"] == -32602
    assert editor.ask("session/prompt", sessionId="none", prompt=[])["error"]["code"] == -32602
    assert "empty" in editor.ask("session/prompt", sessionId=session, prompt=[7])["error"]["message"]
    assert [each["error"]["code"] for each in editor.heard if "error" in each] == [-32700, -32700]
    assert editor.close() == 0
