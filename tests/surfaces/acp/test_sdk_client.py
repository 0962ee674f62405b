"""The official SDK's reference client drives `untilgreen acp` and checks every message against its schema."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import anyio
import pytest

if TYPE_CHECKING:
    from acp.interfaces import Client

pytest.importorskip("acp", reason="the SDK of ACP is not installed: make test-extras")

pytestmark = pytest.mark.timeout(180)
SPEC = """
task = "unused"
agent = "cmd:sh -c 'cat > /dev/null; {turn}'"
strategy = "{strategy}"

[gates.two]
run = "test $(wc -l < lines) -ge 2"
"""
LINE = "echo I wrote a line; echo x >> lines"


class Editor:
    """An editor that uses the SDK."""

    def __init__(self, project: Path, state: Path) -> None:
        self.project, self.state = project, state
        self.updates: list[Any] = []
        self.asked: list[Any] = []
        self.chosen = ""
        self.busy = anyio.Event()

    def on_connect(self, connection: Any) -> None:
        """Nothing to prepare."""

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        self.updates.append(update)
        if (getattr(update, "title", "") or "").startswith("Lap 1:"):
            self.busy.set()

    async def request_permission(self, options: Any, session_id: str, tool_call: Any, **_: Any) -> Any:
        from acp.schema import AllowedOutcome, RequestPermissionResponse

        self.asked.append((tool_call, options))
        return RequestPermissionResponse(outcome=AllowedOutcome(option_id=self.chosen, outcome="selected"))

    def of(self, kind: str) -> list[Any]:
        return [each for each in self.updates if each.session_update == kind]

    def text(self) -> str:
        return "".join(each.content.text for each in self.of("agent_message_chunk"))

    def talk(self, work: Callable[[Any], Awaitable[Any]]) -> Any:
        """Start the agent, do the work with it, and end it."""
        from acp import PROTOCOL_VERSION, spawn_agent_process
        from acp.schema import ClientCapabilities

        command = [sys.executable, "-m", "untilgreen", "acp", "--state-dir", str(self.state)]

        async def main() -> Any:
            async with spawn_agent_process(cast("Client", self), *command, cwd=self.project) as (agent, _):
                hello = await agent.initialize(PROTOCOL_VERSION, client_capabilities=ClientCapabilities())
                assert hello.agent_info is not None
                assert hello.agent_info.name == "untilgreen"
                return await work(agent)

        return anyio.run(main)

    async def prompt(self, agent: Any, session: str = "") -> tuple[str, str]:
        """Send a prompt; the session, and the reason why its turn ended."""
        from acp import text_block

        if not session:
            session = (await agent.new_session(cwd=str(self.project), mcp_servers=[])).session_id
        answer = await agent.prompt(session_id=session, prompt=[text_block("Write two lines.")])
        return session, answer.stop_reason


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Editor:
    monkeypatch.delenv("UNTILGREEN_INSIDE", raising=False)
    project = tmp_path / "project"
    project.mkdir()
    subprocess.run(["git", "init", "-q", "."], cwd=project, check=True)
    return Editor(project, tmp_path / "state")


def trusted(client: Editor, turn: str = LINE, strategy: str = "hybrid") -> None:
    (client.project / "untilgreen.toml").write_text(SPEC.format(turn=turn, strategy=strategy))
    command = [sys.executable, "-m", "untilgreen", "trust", "--yes", "--state-dir", str(client.state)]
    subprocess.run(command, cwd=client.project, check=True, capture_output=True)


def test_a_prompt_is_a_run_and_its_session_is_shown_again(client: Editor) -> None:
    trusted(client)
    session, ended = client.talk(client.prompt)
    live, client.updates = client.updates, []

    async def load(agent: Any) -> None:
        await agent.load_session(cwd=str(client.project), session_id=session, mcp_servers=[])

    assert ended == "end_turn"
    client.talk(load)
    again, client.updates = client.updates, live

    assert "**converged**: all required gates pass in lap 2" in client.text()
    titles = [each.title for each in client.of("tool_call")]
    assert ([each[:6] for each in titles if each.startswith("Lap")], "two: pass" in titles) == (
        ["Lap 1:", "Lap 2:"],
        True,
    )
    entries = [(each.content, each.status) for each in client.of("plan")[-1].entries]
    assert ("two", "completed") in entries
    diffs = [
        part.new_text
        for each in client.of("tool_call_update")
        for part in each.content or []
        if part.type == "diff"
    ]
    assert diffs == ["x\n", "x\nx\n"]
    client.updates = again
    assert "**converged**" in client.text()
    assert [each.title for each in client.of("tool_call")] == titles


def test_a_question_is_a_permission_request(client: Editor) -> None:
    trusted(client, strategy="manual", turn="echo x > lines")
    client.chosen = "stop"

    assert client.talk(client.prompt)[1] == "end_turn"

    ((call, options),) = client.asked
    assert call.title.startswith("Lap 1 scored 0.00")
    assert {each.option_id: each.kind for each in options}["stop"] == "reject_once"


def test_cancel_ends_the_turn(client: Editor) -> None:
    trusted(client, turn="exec sleep 5435")

    async def work(agent: Any) -> str:
        ended = []
        async with anyio.create_task_group() as group:
            session = (await agent.new_session(cwd=str(client.project), mcp_servers=[])).session_id

            async def ask() -> None:
                ended.append((await client.prompt(agent, session))[1])

            group.start_soon(ask)
            await client.busy.wait()
            await agent.cancel(session_id=session)
        return ended[0]

    client.busy = anyio.Event()
    assert client.talk(work) == "cancelled"
    running = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert "sleep 5435" not in running
