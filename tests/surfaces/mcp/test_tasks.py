"""Runs as tasks: working, input_required with the form, completed with the result; the id is the run's."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, ClassVar, Literal

import anyio
import pytest

from tests.surfaces.cli.helpers import repository
from tests.surfaces.web.helpers import keep
from untilgreen.core.values.events import Answered
from untilgreen.engine.store.runs import Store

pytest.importorskip("mcp", reason="the extra [mcp] is not installed")

TASKS = "io.modelcontextprotocol/tasks"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("UNTILGREEN_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.delenv("UNTILGREEN_INSIDE", raising=False)
    return repository(tmp_path / "project", {"n": ""})


def talked(place: Path, talk: Callable[[Any, Store], Awaitable[Any]], *, power: Any = "start") -> Any:
    """Talk to a server as a client that supports tasks and polls them itself."""
    from mcp.client import Client
    from mcp.client.extension import ClaimContext, ClientExtension, ResultClaim
    from mcp_types import CallToolResult, Result
    from pydantic import Field

    from untilgreen.surfaces.mcp.server import make_server
    from untilgreen.surfaces.mcp.tools import Runs

    class Handle(Result):  # type: ignore[misc]
        result_type: Literal["task"] = Field(alias="resultType")
        task_id: str = Field(alias="taskId")
        status: str

    class Knows(ClientExtension):  # type: ignore[misc]
        identifier = TASKS

        def claims(self) -> list[Any]:
            return [ResultClaim(result_type="task", model=Handle, resolve=self.handle)]

        async def handle(self, handle: Handle, context: ClaimContext) -> CallToolResult:
            told = {"type": "run_status", "run": handle.task_id, "status": handle.status, "laps": 0}
            return CallToolResult(content=[], structured_content=told)

    store = Store(place.parent / "state")

    async def main() -> Any:
        server = make_server(lambda: Runs(store, place, power=power))
        async with Client(server, extensions=[Knows()]) as client:
            assert TASKS in (client.server_capabilities.extensions or {})
            return await talk(client, store)

    return anyio.run(main)


async def sent(client: Any, method: str, run: str, **more: Any) -> dict[str, Any]:
    from mcp_types import Request, RequestParams, Result

    class Given(RequestParams):  # type: ignore[misc]
        model_config: ClassVar[Any] = {"extra": "allow"}

    class Open(Result):  # type: ignore[misc]
        model_config: ClassVar[Any] = {"extra": "allow"}

    request = Request[Given, str](method=method, params=Given(taskId=run, **more))
    got: dict[str, Any] = (await client.session.send_request(request, Open)).model_dump(by_alias=True)
    return got


async def ended(client: Any, run: str) -> dict[str, Any]:
    for _ in range(300):
        task = await sent(client, "tasks/get", run)
        if task["status"] != "working":
            return task
        await anyio.sleep(0.2)
    raise AssertionError("The run did not end.")


@pytest.mark.timeout(120)
def test_a_run_is_a_task_until_it_has_its_result(place: Path) -> None:
    async def talk(client: Any, store: Store) -> tuple[Any, Any]:
        given = {"task": "a line", "agent": "cmd:sh -c 'echo x >> n'", "gates": ["one=test -s n"]}
        begun = (await client.call_tool("run_start", given)).structured_content
        return begun, await ended(client, begun["run"])

    begun, task = talked(place, talk)

    assert begun["status"] == "working"
    assert (task["taskId"], task["status"]) == (begun["run"], "completed")
    assert task["result"]["structuredContent"]["status"] == "converged"
    assert task["result"]["isError"] is False


def test_a_question_is_input_required_and_the_update_answers_it(place: Path) -> None:
    async def talk(client: Any, store: Store) -> tuple[Any, ...]:
        run = await keep(store, place, "asking")
        asked = await sent(client, "tasks/get", run)
        ((key, request),) = asked["inputRequests"].items()
        await sent(client, "tasks/update", run, inputResponses={key: {"action": "cancel"}})
        still = await sent(client, "tasks/get", run)
        chosen = {"action": "accept", "content": {"answer": "stop"}}
        await sent(client, "tasks/update", run, inputResponses={key: chosen})
        events = await store.find(run, place).open_journal().events()
        return asked, request, still, [each.choice for each in events if isinstance(each, Answered)]

    asked, request, still, answers = talked(place, talk)

    assert (asked["status"], still["status"]) == ("input_required", "input_required")
    assert request["method"] == "elicitation/create"
    assert "stop" in request["params"]["requestedSchema"]["properties"]["answer"]["enum"]
    assert answers == ["stop"]


@pytest.mark.timeout(120)
def test_a_cancelled_task_is_a_cancelled_run(place: Path) -> None:
    async def talk(client: Any, store: Store) -> Any:
        given = {"task": "wait", "agent": "cmd:sleep 600", "gates": ["no=false"]}
        begun = (await client.call_tool("run_start", given)).structured_content
        await sent(client, "tasks/cancel", begun["run"])
        return await ended(client, begun["run"])

    task = talked(place, talk)

    assert task["status"] == "cancelled"
    assert task["result"]["structuredContent"]["status"] == "cancelled"


@pytest.mark.parametrize("method", ["tasks/update", "tasks/cancel"])
def test_somebody_who_may_only_look_changes_nothing(place: Path, method: str) -> None:
    from mcp.shared.exceptions import MCPError

    async def talk(client: Any, store: Store) -> int:
        run = await keep(store, place, "asking")
        before = len(await store.find(run, place).open_journal().events())
        with pytest.raises(MCPError, match="may only view"):
            await sent(client, method, run, inputResponses={})
        return len(await store.find(run, place).open_journal().events()) - before

    assert talked(place, talk, power="look") == 0


def test_the_agent_of_a_run_answers_no_question(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from mcp.shared.exceptions import MCPError

    monkeypatch.setenv("UNTILGREEN_INSIDE", "0000001xx")

    async def talk(client: Any, store: Store) -> int:
        run = await keep(store, place, "asking")
        before = len(await store.find(run, place).open_journal().events())
        with pytest.raises(MCPError, match="must not answer for a person"):
            await sent(client, "tasks/update", run, inputResponses={})
        return len(await store.find(run, place).open_journal().events()) - before

    assert talked(place, talk) == 0


def test_a_task_that_is_not_there_is_a_clear_error(place: Path) -> None:
    from mcp.shared.exceptions import MCPError

    async def talk(client: Any, store: Store) -> str:
        with pytest.raises(MCPError) as caught:
            await sent(client, "tasks/get", "nope")
        return str(caught.value)

    assert "nope" in talked(place, talk)
