"""Reads an agent's request in any of the four APIs: which tools it offers, and what was said."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from msgspec import Struct, field

Api = Literal["anthropic", "chat", "responses", "gemini"]
ToolKind = Literal["function", "custom", "local_shell"]
Message = tuple[str, str]
"""Role and text."""


class Tool(Struct, frozen=True, kw_only=True):
    """One tool that the agent offers."""

    name: str
    schema: dict[str, Any] = field(default_factory=dict)
    kind: ToolKind = "function"
    namespace: str | None = None


class Asked(Struct, frozen=True, kw_only=True):
    """One request."""

    api: Api
    model: str
    stream: bool
    tools: tuple[Tool, ...] = ()
    messages: tuple[Message, ...] = ()
    schema: dict[str, Any] | None = None
    """The JSON schema of the answer, if one is asked for."""
    size: int = 0

    @property
    def last_user(self) -> str:
        """What the user said last."""
        return next((text for who, text in reversed(self.messages) if who == "user"), "")


def read_request(api: Api, body: dict[str, Any], *, model: str, stream: bool, size: int) -> Asked:
    """Parse a request, as far as a script needs it."""
    tools, messages = _READERS[api](body)
    return Asked(
        api=api,
        model=model or str(body.get("model", "scripted")),
        stream=stream,
        tools=tuple(tools),
        messages=tuple(messages),
        schema=_wanted_shape(body),
        size=size,
    )


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        return _text(content.get("text") or content.get("content") or "")
    if isinstance(content, list):
        return "\n".join(text for each in content if (text := _text(each)))
    return ""


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    yield from (each for each in value or () if isinstance(each, dict))


def _anthropic(body: dict[str, Any]) -> tuple[list[Tool], list[Message]]:
    tools = [
        Tool(name=str(each.get("name")), schema=each["input_schema"])
        for each in _objects(body.get("tools"))
        if "input_schema" in each
    ]
    messages = []
    for each in _objects(body.get("messages")):
        content = each.get("content")
        result = isinstance(content, list) and any(
            block.get("type") == "tool_result" for block in _objects(content)
        )
        messages.append(("tool" if result else str(each.get("role")), _text(content)))
    return tools, messages


def _chat(body: dict[str, Any]) -> tuple[list[Tool], list[Message]]:
    functions = [each.get("function") or each for each in _objects(body.get("tools"))]
    tools = [Tool(name=str(each.get("name")), schema=each.get("parameters") or {}) for each in functions]
    messages = [
        (str(each.get("role")), _text(each.get("content"))) for each in _objects(body.get("messages"))
    ]
    return tools, messages


def _responses(body: dict[str, Any]) -> tuple[list[Tool], list[Message]]:
    given = body.get("input") or []
    items = [{"role": "user", "content": given}] if isinstance(given, str) else list(_objects(given))
    messages = []
    for each in items:
        kind = str(each.get("type", "message"))
        if kind == "message":
            messages.append((str(each.get("role")), _text(each.get("content"))))
        elif kind.endswith("_call"):
            messages.append(("assistant", ""))
        elif kind.endswith("_output"):
            messages.append(("tool", _text(each.get("output"))))
    return list(_responses_tools(body.get("tools"), None)), messages


def _responses_tools(tools: Any, namespace: str | None) -> Iterator[Tool]:
    for each in _objects(tools):
        kind, name = each.get("type"), str(each.get("name"))
        if kind == "namespace":
            yield from _responses_tools(each.get("tools"), name)
        elif kind == "function":
            yield Tool(name=name, schema=each.get("parameters") or {}, namespace=namespace)
        elif kind == "custom":
            yield Tool(name=name, kind="custom", namespace=namespace)
        elif kind == "local_shell":
            yield Tool(name="local_shell", kind="local_shell")


def _gemini(body: dict[str, Any]) -> tuple[list[Tool], list[Message]]:
    tools = [
        Tool(
            name=str(each.get("name")),
            schema=each.get("parametersJsonSchema") or each.get("parameters") or {},
        )
        for group in _objects(body.get("tools"))
        for each in _objects(group.get("functionDeclarations") or group.get("function_declarations"))
    ]
    messages = []
    for each in _objects(body.get("contents")):
        parts = list(_objects(each.get("parts")))
        result = any("functionResponse" in part for part in parts)
        who = "assistant" if each.get("role") == "model" else "tool" if result else "user"
        messages.append((who, _text(parts)))
    return tools, messages


_READERS = {"anthropic": _anthropic, "chat": _chat, "responses": _responses, "gemini": _gemini}


def _wanted_shape(body: dict[str, Any]) -> dict[str, Any] | None:
    """The JSON schema of the answer, if one is asked for."""
    config = body.get("generationConfig") or {}
    schema = config.get("responseJsonSchema") or config.get("responseSchema")
    if isinstance(schema, dict):
        return schema
    written = body.get("response_format") or body.get("output_format")
    written = (
        written or (body.get("text") or {}).get("format") or (body.get("output_config") or {}).get("format")
    )
    if not isinstance(written, dict) or "json" not in str(written.get("type", "")):
        return None
    schema = written.get("schema") or (written.get("json_schema") or {}).get("schema")
    return schema if isinstance(schema, dict) else {}
