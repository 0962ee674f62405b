"""Answers in the form of OpenAI Chat Completions."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

from untilgreen.testing.model.answer import StreamEvent, ToSay


def whole(say: ToSay) -> dict[str, Any]:
    """The answer in one piece."""
    message: dict[str, Any] = {"role": "assistant", "content": say.text or None}
    if say.uses:
        message["tool_calls"] = _calls(say)
    choice = {"index": 0, "message": message, "finish_reason": _stop(say), "logprobs": None}
    return {**_base(say), "object": "chat.completion", "choices": [choice], "usage": _usage(say)}


def stream(say: ToSay) -> Iterator[StreamEvent]:
    """The answer as server-sent events."""
    base = {**_base(say), "object": "chat.completion.chunk"}

    def chunk(delta: dict[str, Any], finish: str | None = None) -> StreamEvent:
        choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
        return None, {**base, "choices": [choice]}

    yield chunk({"role": "assistant", "content": ""})
    for piece in say.pieces(say.text):
        yield chunk({"content": piece})
    for index, call in enumerate(_calls(say)):
        arguments = call["function"]["arguments"]
        opened = {**call, "index": index, "function": {**call["function"], "arguments": ""}}
        yield chunk({"tool_calls": [opened]})
        for piece in say.pieces(arguments):
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    yield chunk({}, _stop(say))
    yield None, {**base, "choices": [], "usage": _usage(say)}
    yield None, "[DONE]"


def failure(status: int, kind: str, message: str) -> dict[str, Any]:
    """What an error looks like, also in the Responses API."""
    code = {401: "invalid_api_key", 429: "rate_limit_exceeded"}.get(status, kind)
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def broken() -> StreamEvent:
    """What an error in a stream looks like."""
    return None, failure(503, "server_error", "scripted: overloaded")


def _base(say: ToSay) -> dict[str, Any]:
    return {"id": f"chatcmpl-{uuid4().hex[:24]}", "created": int(time.time()), "model": say.model}


def _calls(say: ToSay) -> list[dict[str, Any]]:
    return [
        {
            "id": f"call_{use.id}",
            "type": "function",
            "function": {"name": use.name, "arguments": json.dumps(use.args)},
        }
        for use in say.uses
    ]


def _stop(say: ToSay) -> str:
    return "tool_calls" if say.uses else "stop"


def _usage(say: ToSay) -> dict[str, Any]:
    return {
        "prompt_tokens": say.tokens.input,
        "completion_tokens": say.tokens.output,
        "total_tokens": say.tokens.input + say.tokens.output,
        "prompt_tokens_details": {"cached_tokens": say.tokens.cache_read},
    }
