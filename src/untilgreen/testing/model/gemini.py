"""Answers in the form of the Gemini API."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

from untilgreen.testing.model.answer import StreamEvent, ToSay


def whole(say: ToSay) -> dict[str, Any]:
    """The answer in one piece."""
    text = [{"text": say.text}] if say.text or not say.uses else []
    return _response(say, [*text, *_calls(say)], "STOP")


def stream(say: ToSay) -> Iterator[StreamEvent]:
    """The answer as server-sent events."""
    for piece in say.pieces(say.text):
        yield None, _response(say, [{"text": piece}])
    if say.uses:
        yield None, _response(say, _calls(say))
    yield None, _response(say, [{"text": ""}], "STOP")


def failure(status: int, kind: str, message: str) -> dict[str, Any]:
    """What an error looks like."""
    names = {401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND", 429: "RESOURCE_EXHAUSTED"}
    name = names.get(
        status, "INTERNAL" if status == 500 else "UNAVAILABLE" if status > 500 else "INVALID_ARGUMENT"
    )
    return {"error": {"code": status, "message": message, "status": name}}


def broken() -> StreamEvent:
    """What an error in a stream looks like."""
    return None, failure(503, "", "scripted: overloaded")


def _calls(say: ToSay) -> list[dict[str, Any]]:
    return [
        {
            "functionCall": {"id": use.id, "name": use.name, "args": use.args},
            "thoughtSignature": "c2NyaXB0ZWQ=",
        }
        for use in say.uses
    ]


def _response(say: ToSay, parts: list[dict[str, Any]], finish: str | None = None) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": parts}, "index": 0}
    if finish:
        candidate["finishReason"] = finish
    return {
        "candidates": [candidate],
        "usageMetadata": {
            "promptTokenCount": say.tokens.input,
            "candidatesTokenCount": say.tokens.output,
            "cachedContentTokenCount": say.tokens.cache_read,
            "totalTokenCount": say.tokens.input + say.tokens.output,
        },
        "modelVersion": say.model,
        "responseId": uuid4().hex[:20],
    }
