"""Answers in the form of Anthropic Messages."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

from untilgreen.testing.model.answer import StreamEvent, ToSay


def whole(say: ToSay) -> dict[str, Any]:
    """The answer in one piece."""
    return {
        **_base(say),
        "content": _blocks(say),
        "stop_reason": _stop(say),
        "stop_sequence": None,
        "usage": {**_usage(say), "output_tokens": say.tokens.output},
    }


def stream(say: ToSay) -> Iterator[StreamEvent]:
    """The answer as server-sent events."""
    start = {**_base(say), "content": [], "stop_reason": None, "stop_sequence": None, "usage": _usage(say)}
    yield "message_start", {"type": "message_start", "message": start}
    for index, block in enumerate(_blocks(say)):
        text = block["type"] == "text"
        empty = {"type": "text", "text": ""} if text else {**block, "input": {}}
        yield _event("content_block_start", index=index, content_block=empty)
        for piece in say.pieces(block["text"] if text else json.dumps(block["input"])):
            delta = (
                {"type": "text_delta", "text": piece}
                if text
                else {"type": "input_json_delta", "partial_json": piece}
            )
            yield _event("content_block_delta", index=index, delta=delta)
        yield _event("content_block_stop", index=index)
    yield _event(
        "message_delta",
        delta={"stop_reason": _stop(say), "stop_sequence": None},
        usage={"output_tokens": say.tokens.output},
    )
    yield _event("message_stop")


def failure(status: int, kind: str, message: str) -> dict[str, Any]:
    """What an error looks like."""
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_scripted"}


def broken() -> StreamEvent:
    """What an error in a stream looks like."""
    return "error", failure(529, "overloaded_error", "scripted: overloaded")


def _event(kind: str, **values: Any) -> StreamEvent:
    return kind, {"type": kind, **values}


def _base(say: ToSay) -> dict[str, Any]:
    return {"id": f"msg_{uuid4().hex[:24]}", "type": "message", "role": "assistant", "model": say.model}


def _usage(say: ToSay) -> dict[str, int]:
    return {
        "input_tokens": say.tokens.input,
        "cache_creation_input_tokens": say.tokens.cache_write,
        "cache_read_input_tokens": say.tokens.cache_read,
        "output_tokens": 1,
    }


def _blocks(say: ToSay) -> list[dict[str, Any]]:
    text = [{"type": "text", "text": say.text}] if say.text else []
    return text + [
        {"type": "tool_use", "id": f"toolu_{use.id}", "name": use.name, "input": use.args} for use in say.uses
    ]


def _stop(say: ToSay) -> str:
    return "tool_use" if say.uses else "end_turn"
