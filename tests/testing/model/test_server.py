"""The scripted model: four APIs, streamed or not, and every failure that a scenario can ask for."""

import http.client
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from untilgreen.errors import UserError
from untilgreen.testing import ScriptedModel, load_scenario
from untilgreen.testing.model.agent_environments import point

WRITE_SCHEMA = {
    "type": "object",
    "properties": {"file_path": {"type": "string"}, "content": {"type": "string"}},
    "required": ["file_path", "content"],
}
SHELL_SCHEMA = {
    "type": "object",
    "properties": {"command": {"type": "string"}, "why": {"type": "string"}, "n": {"type": "integer"}},
    "required": ["command", "why", "n"],
}
SCHEMAS = {"Write": WRITE_SCHEMA, "bash": SHELL_SCHEMA}
PATHS = {
    "anthropic": "/v1/messages",
    "chat": "/v1/chat/completions",
    "responses": "/v1/responses",
    "gemini": "/v1beta/models/gemini-x:generateContent",
}
WRITES = {"text": "Here.", "calls": [{"write": {"path": "a.txt", "content": "hi\n"}}, {"shell": "cat a.txt"}]}


def request(api: str, *, stream: bool = False, tools: bool = True) -> dict[str, Any]:
    said = "Do it."
    match api:
        case "anthropic":
            body: dict[str, Any] = {"messages": [{"role": "user", "content": said}]}
            offered: Any = [{"name": name, "input_schema": schema} for name, schema in SCHEMAS.items()]
        case "chat":
            body = {"messages": [{"role": "user", "content": [{"type": "text", "text": said}]}]}
            offered = [
                {"type": "function", "function": {"name": n, "parameters": s}} for n, s in SCHEMAS.items()
            ]
        case "responses":
            body = {"input": [{"type": "message", "role": "user", "content": [{"text": said}]}]}
            offered = [{"type": "function", "name": n, "parameters": s} for n, s in SCHEMAS.items()]
        case _:
            body = {"contents": [{"role": "user", "parts": [{"text": said}]}]}
            offered = [{"functionDeclarations": [{"name": n, "parameters": s} for n, s in SCHEMAS.items()]}]
    return {**body, "model": "m", "stream": stream} | ({"tools": offered} if tools else {})


def send(model: ScriptedModel, api: str, body: dict[str, Any]) -> tuple[int, dict[str, str], bytes]:
    place = urlsplit(model.url)
    connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=20)
    path = PATHS[api]
    if api == "gemini" and body.get("stream"):
        path = path.replace(":generate", ":streamGenerate") + "?alt=sse"
    try:
        connection.request("POST", path, json.dumps(body), {"content-type": "application/json"})
        answer = connection.getresponse()
        return answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read()
    finally:
        connection.close()


def events(raw: bytes) -> Iterator[Any]:
    for line in raw.decode().splitlines():
        if line.startswith("data: ") and line != "data: [DONE]":
            yield json.loads(line.removeprefix("data: "))


def whole_calls(api: str, answer: Any) -> tuple[str, list[tuple[str, dict[str, Any]]]]:
    """The text and the tool calls in a response that is not streamed."""
    match api:
        case "anthropic":
            blocks = answer["content"]
            text = "".join(each["text"] for each in blocks if each["type"] == "text")
            return text, [(each["name"], each["input"]) for each in blocks if each["type"] == "tool_use"]
        case "chat":
            message = answer["choices"][0]["message"]
            calls = [each["function"] for each in message.get("tool_calls", [])]
            return message["content"] or "", [(each["name"], json.loads(each["arguments"])) for each in calls]
        case "responses":
            items = answer["output"]
            text = "".join(each["content"][0]["text"] for each in items if each["type"] == "message")
            calls = [each for each in items if each["type"] == "function_call"]
            return text, [(each["name"], json.loads(each["arguments"])) for each in calls]
        case _:
            parts = answer["candidates"][0]["content"]["parts"]
            calls = [each["functionCall"] for each in parts if "functionCall" in each]
            return "".join(each.get("text", "") for each in parts), [(c["name"], c["args"]) for c in calls]


def streamed(api: str, raw: bytes) -> tuple[str, str]:
    """The text of a stream, and the joined pieces of its tool calls' arguments."""
    text = arguments = ""
    for event in events(raw):
        match api:
            case "anthropic":
                delta = event.get("delta", {})
                text, arguments = text + delta.get("text", ""), arguments + delta.get("partial_json", "")
            case "chat":
                for choice in event["choices"]:
                    text += choice["delta"].get("content") or ""
                    for call in choice["delta"].get("tool_calls", []):
                        arguments += call["function"].get("arguments", "")
            case "responses":
                piece = event.get("delta", "")
                text += piece if event["type"] == "response.output_text.delta" else ""
                arguments += piece if event["type"] == "response.function_call_arguments.delta" else ""
            case _:
                for part in event["candidates"][0]["content"]["parts"]:
                    text += part.get("text", "")
                    arguments += json.dumps(part["functionCall"]["args"]) if "functionCall" in part else ""
    return text, arguments


@pytest.mark.parametrize("api", PATHS)
def test_portable_calls_become_calls_of_the_offered_tools(api: str) -> None:
    with ScriptedModel([WRITES]) as model:
        status, _, raw = send(model, api, request(api))

    text, calls = whole_calls(api, json.loads(raw))
    assert (status, text) == (200, "Here.")
    assert calls == [
        ("Write", {"file_path": "a.txt", "content": "hi\n"}),
        ("bash", {"command": "cat a.txt", "why": "scripted", "n": 0}),
    ]
    assert model.requests[0].last_user == "Do it."


@pytest.mark.parametrize("api", PATHS)
def test_a_stream_says_the_same_in_pieces(api: str) -> None:
    with ScriptedModel([{**WRITES, "chunk": 3}]) as model:
        status, headers, raw = send(model, api, request(api, stream=True))

    text, arguments = streamed(api, raw)
    assert (status, headers["content-type"], text) == (200, "text/event-stream", "Here.")
    assert json.loads(arguments.split("}{")[0] + "}") == {"file_path": "a.txt", "content": "hi\n"}


@pytest.mark.parametrize("api", PATHS)
@pytest.mark.parametrize("status", [401, 402, 429, 500, 529])
def test_errors_come_with_their_status_in_the_words_of_the_api(api: str, status: int) -> None:
    with ScriptedModel([{"error": status, "retry_after": 7, "headers": {"x-reset": "soon"}}]) as model:
        seen, headers, raw = send(model, api, request(api))

    assert (seen, headers["retry-after"], headers["x-reset"]) == (status, "7", "soon")
    assert json.loads(raw)["error"]["message"].startswith("scripted: ")


def test_an_error_may_have_its_own_body() -> None:
    with ScriptedModel([{"error": 429, "body": {"error": {"type": "usage_limit_reached"}}}]) as model:
        _, _, raw = send(model, "responses", request("responses"))

    assert json.loads(raw) == {"error": {"type": "usage_limit_reached"}}


@pytest.mark.parametrize("drop_after", [0, 2])
def test_a_connection_is_dropped_before_or_within_the_answer(drop_after: int) -> None:
    with (
        ScriptedModel([{"text": "This will not be finished", "chunk": 4, "drop_after": drop_after}]) as model,
        pytest.raises((ConnectionError, http.client.IncompleteRead)),
    ):
        send(model, "anthropic", request("anthropic", stream=True))


@pytest.mark.parametrize("api", PATHS)
def test_a_stream_that_began_well_can_still_fail(api: str) -> None:
    with ScriptedModel([{"text": "one two three", "chunk": 2, "stream_error": True}]) as model:
        status, _, raw = send(model, api, request(api, stream=True))

    assert status == 200
    assert "scripted: overloaded" in json.dumps(list(events(raw))[-1])


def test_closing_ends_an_answer_that_hangs() -> None:
    with ScriptedModel([{"text": "I begin", "chunk": 1, "hang": 600}]) as model:
        place = urlsplit(model.url)
        connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=20)
        connection.request("POST", PATHS["anthropic"], json.dumps(request("anthropic", stream=True)))
        assert connection.getresponse().status == 200
    connection.close()


def test_turns_are_played_in_order_and_the_last_stays() -> None:
    with ScriptedModel([{"text": "a", "repeat": 2}, {"text": "b"}]) as model:
        said = [whole_calls("chat", json.loads(send(model, "chat", request("chat"))[2]))[0] for _ in range(5)]

    assert said == ["a", "a", "b", "b", "b"]
    assert model.turns == 5


@pytest.mark.parametrize(("then", "said"), [("loop", "a"), ("error", "")])
def test_after_the_last_turn_it_begins_again_or_fails(then: str, said: str) -> None:
    with ScriptedModel({"turns": [{"text": "a"}], "then": then}) as model:
        send(model, "chat", request("chat"))
        status, _, raw = send(model, "chat", request("chat"))

    assert status == (200 if said else 500)
    if said:
        assert whole_calls("chat", json.loads(raw))[0] == said


def test_a_request_without_tools_takes_nothing_from_the_script() -> None:
    shape = {
        "type": "json_schema",
        "json_schema": {"schema": {"required": ["n"], "properties": {"n": {"type": "integer"}}}},
    }
    with ScriptedModel({"turns": [{"text": "work"}], "side": {"text": "A title"}}) as model:
        title = json.loads(send(model, "chat", request("chat", tools=False))[2])
        shaped = json.loads(send(model, "chat", request("chat", tools=False) | {"response_format": shape})[2])

    assert whole_calls("chat", title)[0] == "A title"
    assert json.loads(whole_calls("chat", shaped)[0]) == {"n": 0}
    assert model.turns == 0


def test_an_agent_without_tools_gets_files_in_words() -> None:
    scenario = {"turns": [WRITES], "side": {"when": "never"}, "no_tools_as": "aider"}
    with ScriptedModel(scenario) as model:
        raw = send(model, "chat", request("chat", tools=False))[2]

    assert (
        whole_calls("chat", json.loads(raw))[0] == "Here.\n\na.txt\n```\nhi\n```\n\n```bash\ncat a.txt\n```"
    )


def test_variables_and_figures_are_what_the_scenario_says() -> None:
    turn = {"text": "in ${cwd} and ${other}", "usage": {"input": 1000, "output": 5, "cache_read": 300}}
    with ScriptedModel({"turns": [turn], "vars": {"other": "there"}}, cwd="/here") as model:
        answer = json.loads(send(model, "anthropic", request("anthropic"))[2])

    assert answer["content"][0]["text"] == "in /here and there"
    assert answer["usage"] == {
        "input_tokens": 1000,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 300,
        "output_tokens": 5,
    }


def test_a_scenario_may_come_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text('[[turns]]\ntext = "from ${where}"\n')
    (tmp_path / "s.json").write_text('{"turns": [{"text": "from ${where}"}]}')

    assert load_scenario(tmp_path / "s.toml", where="TOML").turns[0].text == "from TOML"
    assert load_scenario(tmp_path / "s.json", where="JSON").turns[0].text == "from JSON"


@pytest.mark.parametrize(
    ("written", "finding"),
    [
        ({"turns": []}, "has no answer"),
        ({"turns": [{"text": "a", "repeat": 0}]}, "has no answer"),
        ({"turns": [{"txt": "a"}]}, "unknown field `txt`"),
        ({"turns": [{"text": 3}]}, r"Expected `str`"),
    ],
)
def test_a_scenario_that_can_not_be_played_says_why(written: Any, finding: str) -> None:
    with pytest.raises(UserError, match=finding):
        ScriptedModel(written)


def test_a_file_that_can_not_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"nowhere\.toml"):
        load_scenario(tmp_path / "nowhere.toml")


def test_an_agent_that_can_not_be_pointed_at_it_gets_the_nearest_name(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="Did you mean 'claude'"):
        point("cluade", "http://127.0.0.1:1", tmp_path)


def test_it_can_be_started_from_a_command_line(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text('[[turns]]\ntext = "hello"\n')
    command = [sys.executable, "-m", "untilgreen.testing.model", str(tmp_path / "s.toml"), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        url = server.stdout.readline().strip()
        place = urlsplit(url)
        connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=20)
        connection.request("GET", "/v1/models")
        models = json.loads(connection.getresponse().read())
        connection.close()
        server.terminate()

    assert models["data"][0]["id"] == "scripted-1"


def test_a_wrong_scenario_on_the_command_line_is_a_clear_error(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "untilgreen.testing.model", str(tmp_path / "nothing.toml")]

    ran = subprocess.run(command, capture_output=True, text=True, check=False)

    assert ran.returncode == 2
    assert ran.stderr.startswith("error: The scenario")
    assert "Traceback" not in ran.stderr
