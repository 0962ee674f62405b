"""Answers in the form of OpenAI Responses."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from itertools import count
from typing import Any
from uuid import uuid4

from untilgreen.testing.model.answer import StreamEvent, ToSay
from untilgreen.testing.model.chat import failure
from untilgreen.testing.model.tools import Use

__all__ = ["broken", "failure", "stream", "whole"]


def whole(say: ToSay) -> dict[str, Any]:
    """The answer in one piece."""
    return {**_base(say), "status": "completed", "output": _items(say), "usage": _usage(say)}


def stream(say: ToSay) -> Iterator[StreamEvent]:
    """The answer as server-sent events."""
    number, base, items = count(), _base(say), _items(say)

    def event(kind: str, **values: Any) -> StreamEvent:
        return kind, {"type": kind, "sequence_number": next(number), **values}

    begun = {**base, "status": "in_progress", "output": [], "usage": None}
    yield event("response.created", response=begun)
    yield event("response.in_progress", response=begun)
    for index, item in enumerate(items):
        for kind, values in _item(item, index, say):
            yield event(kind, **values)
    finished = {**base, "status": "completed", "output": items, "usage": _usage(say)}
    yield event("response.completed", response=finished)


def broken() -> StreamEvent:
    """What an error in a stream looks like."""
    error = {"code": "server_error", "message": "scripted: overloaded"}
    response = {"id": "resp_x", "object": "response", "status": "failed", "output": [], "error": error}
    return "response.failed", {"type": "response.failed", "sequence_number": 99, "response": response}


def _item(item: dict[str, Any], index: int, say: ToSay) -> Iterator[tuple[str, dict[str, Any]]]:
    """The events that stream one item."""
    place = {"item_id": item["id"], "output_index": index}
    message = item["type"] == "message"
    grows = {"message": "content", "function_call": "arguments", "custom_tool_call": "input"}.get(
        item["type"]
    )
    empty = {grows: [] if message else ""} if grows else {}
    opened = {**item, "status": "in_progress", **empty}
    yield "response.output_item.added", {"output_index": index, "item": opened}
    if message:
        place["content_index"] = 0
        part = {"type": "output_text", "text": "", "annotations": []}
        yield "response.content_part.added", {**place, "part": part}
        for piece in say.pieces(say.text):
            yield "response.output_text.delta", {**place, "delta": piece, "logprobs": []}
        yield "response.output_text.done", {**place, "text": say.text, "logprobs": []}
        yield "response.content_part.done", {**place, "part": item["content"][0]}
    elif grows:
        name = "function_call_arguments" if grows == "arguments" else "custom_tool_call_input"
        for piece in say.pieces(item[grows]):
            yield f"response.{name}.delta", {**place, "delta": piece}
        yield f"response.{name}.done", {**place, grows: item[grows]}
    yield "response.output_item.done", {"output_index": index, "item": item}


def _items(say: ToSay) -> list[dict[str, Any]]:
    content = [{"type": "output_text", "text": say.text, "annotations": []}]
    message = {"type": "message", "id": f"msg_{uuid4().hex[:24]}", "role": "assistant", "content": content}
    text = [{**message, "status": "completed"}] if say.text else []
    return text + [_call(use) for use in say.uses]


def _call(use: Use) -> dict[str, Any]:
    item: dict[str, Any] = {"id": f"fc_{use.id}", "call_id": f"call_{use.id}", "status": "completed"}
    if use.kind == "custom":
        item |= {"type": "custom_tool_call", "name": use.name, "input": use.input}
    elif use.kind == "local_shell":
        action = {"type": "exec", "command": use.args["command"], "env": {}}
        item |= {"type": "local_shell_call", "action": action}
    else:
        item |= {"type": "function_call", "name": use.name, "arguments": json.dumps(use.args)}
    return item | ({"namespace": use.namespace} if use.namespace else {})


def _base(say: ToSay) -> dict[str, Any]:
    return {
        "id": f"resp_{uuid4().hex[:24]}",
        "object": "response",
        "created_at": int(time.time()),
        "model": say.model,
        "error": None,
        "incomplete_details": None,
        "parallel_tool_calls": True,
        "tools": [],
        "tool_choice": "auto",
        "metadata": {},
    }


def _usage(say: ToSay) -> dict[str, Any]:
    return {
        "input_tokens": say.tokens.input,
        "input_tokens_details": {"cached_tokens": say.tokens.cache_read},
        "output_tokens": say.tokens.output,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": say.tokens.input + say.tokens.output,
    }
