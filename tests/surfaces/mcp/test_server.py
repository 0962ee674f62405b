"""The MCP server, called by the SDK's own client: in this process, and as a program on stdio."""

from __future__ import annotations

import json
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from jsonschema import Draft202012Validator

from tests.surfaces.cli.helpers import repository
from tests.surfaces.web.helpers import keep
from untilgreen.engine.store.runs import Store
from untilgreen.surfaces.json_schemas import LINES, TOOL_ANSWERS, schema_of

pytest.importorskip("mcp", reason="the extra [mcp] is not installed")

AGENT = "cmd:sh -c 'echo x >> n'"
GATE = 'three=test "$(wc -l < n)" -ge 3'
NEVER = ("answer", "allow", "approve", "trust", "apply", "restore")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("UNTILGREEN_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.delenv("UNTILGREEN_INSIDE", raising=False)
    return repository(tmp_path / "project", {"n": ""})


def asked(place: Path, talk: Callable[[Any], Awaitable[Any]], **how: Any) -> Any:
    """Talk to a server in this process."""
    from mcp.client import Client

    from untilgreen.surfaces.mcp.server import make_server
    from untilgreen.surfaces.mcp.tools import Runs

    async def main() -> Any:
        server = make_server(lambda: Runs(Store(place.parent / "state"), place))
        async with Client(server, **how) as client:
            return await talk(client)

    return anyio.run(main)


async def started(client: Any, **more: Any) -> str:
    given = {"task": "three lines", "agent": AGENT, "gates": [GATE], **more}
    answer = await client.call_tool("run_start", given)
    assert not answer.is_error, answer.content[0].text
    return str(answer.structured_content["run"])


@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.timeout(120)
def test_a_run_is_started_waited_for_and_looked_at(place: Path, mode: str) -> None:
    laps: list[str] = []

    async def tell(done: float, total: float | None, message: str | None) -> None:
        laps.append(message or "")

    async def talk(client: Any) -> tuple[Any, ...]:
        run = await started(client)
        for _ in range(5):
            ended = await client.call_tool("run_wait", {"run": run, "seconds": 20}, progress_callback=tell)
            if ended.structured_content["status"] != "running":
                break
        shown = await client.call_tool("run_status", {"run": run})
        why = await client.call_tool("run_why", {"run": run})
        diff = await client.call_tool("run_diff", {"run": run, "lap": 2})
        resource = await client.read_resource(f"untilgreen://runs/{run}")
        patch = await client.read_resource(f"untilgreen://runs/{run}/laps/1/diff")
        return ended, shown, why, diff, resource.contents[0].text, patch.contents[0].text

    ended, shown, why, diff, resource, patch = asked(place, talk, mode=mode)

    published = Draft202012Validator(schema_of("output"))
    for answer in (ended, shown, why, diff):
        assert [each.message for each in published.iter_errors(answer.structured_content)] == []
    assert ended.structured_content["status"] == "converged"
    assert [text.partition(":")[0] for text in dict.fromkeys(laps)] == ["lap 1", "lap 2", "lap 3"]
    assert (shown.structured_content["outcome"], shown.structured_content["laps"]) == ("converged", 3)
    assert why.structured_content["type"] == "why"
    assert "+x" in diff.structured_content["diff"]
    assert '"outcome":"converged"' in resource
    assert "+x" in patch


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_runs_laps_diffs_and_outputs_have_addresses(place: Path, mode: str) -> None:
    async def talk(client: Any) -> tuple[Any, ...]:
        run = await keep(Store(place.parent / "state"), place, "green")

        async def read(path: str) -> str:
            return str((await client.read_resource(f"untilgreen://runs{path}")).contents[0].text)

        with pytest.raises(Exception, match="has no lap '9'"):
            await read(f"/{run}/laps/9")
        with pytest.raises(Exception, match="no verdict of a gate"):
            await read(f"/{run}/laps/3/output/..%2F..%2Fjournal")
        with pytest.raises(Exception, match="Did you mean 'until_green'"):
            await client.get_prompt("until_grean", {"goal": "x"})
        rows = json.loads(await read(""))
        return run, rows, json.loads(await read(f"/{run}/laps/3")), await read(f"/{run}/laps/3/output/tests")

    run, rows, lap, output = asked(place, talk, mode=mode)

    assert [(row["run"], row["status"]) for row in rows] == [(run, "converged")]
    assert (lap["number"], set(lap["verdicts"])) == (3, {"tests", "style"})
    assert isinstance(output, str)


def test_every_tool_answers_with_a_published_type() -> None:
    from untilgreen.surfaces.mcp.tools import TOOLS

    assert {tool.gives for tool in TOOLS.values()} <= {*LINES, *TOOL_ANSWERS}
    tags = [str(each.__struct_config__.tag) for each in (*LINES, *TOOL_ANSWERS)]
    assert len(tags) == len(set(tags))


def test_a_damaged_run_does_not_hide_the_others(place: Path) -> None:
    async def talk(client: Any) -> tuple[str, Any]:
        store = Store(place.parent / "state")
        run = await keep(store, place, "green")
        damaged = store.record(await keep(store, place, "green"))
        damaged.journal.write_bytes(b"{" + damaged.journal.read_bytes()[1:].replace(b"at", b"ta"))
        return run, json.loads((await client.read_resource("untilgreen://runs")).contents[0].text)

    run, rows = asked(place, talk)

    assert [row["run"] for row in rows] == [run]


def test_finished_runs_are_replayed_with_other_strategies(place: Path) -> None:
    async def talk(client: Any) -> Any:
        await keep(Store(place.parent / "state"), place, "green")
        return await client.call_tool("backtest", {"strategies": ["fixed", "hybrid"]})

    answer = asked(place, talk)

    assert not answer.is_error, answer.content[0].text
    assert answer.structured_content["runs"] == 1
    assert [row["strategy"] for row in answer.structured_content["strategies"]] == ["fixed", "hybrid"]


def test_no_tool_decides_what_people_decide(place: Path) -> None:
    async def talk(client: Any) -> tuple[list[Any], list[str], list[str]]:
        tools = (await client.list_tools()).tools
        prompts = [each.name for each in (await client.list_prompts()).prompts]
        templates = (await client.list_resource_templates()).resource_templates
        return tools, prompts, [each.uri_template for each in templates]

    tools, prompts, templates = asked(place, talk)

    assert {tool.name for tool in tools} == {
        *("run_start", "run_wait", "run_status", "run_why", "run_diff", "run_steer", "run_stop", "check"),
        "backtest",
    }
    assert [tool.name for tool in tools if any(word in tool.name for word in NEVER)] == []
    assert all(tool.input_schema["type"] == "object" and tool.output_schema for tool in tools)
    assert prompts == ["until_green", "review_run"]
    lap = "untilgreen://runs/{run}/laps/{lap}"
    assert templates == ["untilgreen://runs/{run}", lap, f"{lap}/diff", f"{lap}/output/{{gate}}"]


@pytest.mark.parametrize(
    ("tool", "given", "sentence"),
    [
        ("run_status", {"run": "nope"}, "nope"),
        ("run_status", {"rum": "x"}, "rum"),
        ("run_start", {"task": "x", "agent": "clade", "gates": ["true"]}, "Did you mean 'claude'?"),
        ("run_start", {"task": "x", "directory": "missing"}, "There is no directory 'missing'."),
        ("run_wait", {"seconds": 3600}, "50"),
        ("run_strat", {}, "Did you mean 'run_start'?"),
        ("backtest", {"strategies": ["./mine.py:Mine"]}, "There is no strategy './mine.py:Mine'."),
    ],
)
def test_a_mistake_is_answered_with_a_clear_error(
    place: Path, tool: str, given: dict[str, Any], sentence: str
) -> None:
    async def talk(client: Any) -> Any:
        return await client.call_tool(tool, given)

    answer = asked(place, talk)

    assert answer.is_error
    assert sentence in answer.content[0].text
    assert "Traceback" not in answer.content[0].text


def test_a_spec_that_nobody_trusted_starts_nothing(place: Path) -> None:
    (place / "untilgreen.toml").write_text("agent = 'cmd:true'\n[gates.tests]\nrun = 'touch ran'\n")

    async def talk(client: Any) -> tuple[Any, Any]:
        return await client.call_tool("run_start", {"task": "x"}), await client.call_tool("check", {})

    for answer in asked(place, talk):
        assert answer.is_error
        assert "untilgreen trust" in answer.content[0].text
    assert not (place / "ran").exists()


def test_the_agent_of_a_run_can_not_start_another(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNTILGREEN_INSIDE", "2pjxqjcvt")

    async def talk(client: Any) -> Any:
        return await client.call_tool("run_start", {"task": "x", "agent": AGENT, "gates": [GATE]})

    answer = asked(place, talk)

    assert answer.is_error
    assert "a run's agent can't start another run" in answer.content[0].text


@pytest.mark.timeout(120)
def test_gates_are_checked_and_a_run_is_steered_and_stopped(place: Path) -> None:
    async def talk(client: Any) -> tuple[Any, Any, Any]:
        checked = await client.call_tool("check", {"gates": ["ok=true", "no=false"]})
        run = await started(client, agent="cmd:sleep 1", gates=["false"], max_iterations=9)
        steered = await client.call_tool("run_steer", {"run": run, "note": "hurry"})
        await client.call_tool("run_stop", {"run": run})
        for _ in range(5):
            ended = await client.call_tool("run_wait", {"run": run, "seconds": 20})
            if ended.structured_content["status"] != "running":
                break
        return checked, steered, ended

    checked, steered, ended = asked(place, talk)

    assert (checked.structured_content["green"], set(checked.structured_content["gates"])) == (
        False,
        {"ok", "no"},
    )
    assert not steered.is_error
    assert ended.structured_content["status"] == "cancelled"


@pytest.mark.timeout(60)
def test_the_program_speaks_on_stdin_and_stdout_and_ends_with_its_client(place: Path) -> None:
    from mcp import StdioServerParameters
    from mcp.client import Client
    from mcp.client.stdio import stdio_client

    async def main() -> tuple[str, int]:
        words = ["-m", "untilgreen", "mcp", "-C", str(place), "--state-dir", str(place.parent / "state")]
        server = stdio_client(StdioServerParameters(command=sys.executable, args=words))
        async with Client(server) as client:
            return client.server_info.name, len((await client.list_tools()).tools)

    assert anyio.run(main) == ("untilgreen", 9)
