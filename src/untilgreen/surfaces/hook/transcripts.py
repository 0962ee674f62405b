"""The agent's last words from its transcript, where the payload of its stop hook does not have them.

Gemini CLI hands over everything that was said since the person's own prompt, and calls its stop hook for an
aborted turn, too: its transcript has an answer for each turn that finished, and none for one that did not.
GitHub Copilot CLI hands over no text at all, and writes its transcript after it calls the hook: we wait for
the record of this very call.
Claude Code hands its last words over; old versions name only the transcript.
Records older than the offer of the brief belong to an earlier lap.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import anyio
import msgspec
from msgspec.structs import replace

from untilgreen.surfaces.hook.payload import Payload
from untilgreen.surfaces.install.targets import Transcript

LOOK_SECONDS = 0.05
LOOKS = 60
TAIL_BYTES = 4_000_000
"""How much of a transcript is read, from its end; the last words of a lap are in there."""
_BETWEEN = " \n"
"""What Gemini CLI puts between two answers of one turn."""
Record = Mapping[str, Any]


async def completed(transcript: Transcript | None, payload: Payload, since: float) -> Payload:
    """The payload of a stop, with the last words of the lap that began at `since`."""
    return payload if transcript is None else await READERS[transcript](payload, since)


async def _claude(payload: Payload, since: float) -> Payload:
    texts = [
        _words(record.get("message"))
        for record in _records(payload.transcript) or []
        if record.get("type") == "assistant" and not record.get("isSidechain") and _moment(record) >= since
    ]
    return replace(payload, text=next((text for text in reversed(texts) if text.strip()), ""))


async def _gemini(payload: Payload, since: float) -> Payload:
    """Its flag for a continued turn is reset by every tool call, so it means nothing."""
    spoken = _conversation(_records(payload.transcript) or [])
    if not spoken:
        return replace(payload, kept_going=None, text=payload.text.rstrip().rpartition(_BETWEEN)[2])
    last = spoken[-1]
    ended = last.get("type") == "gemini" and _moment(last) >= since
    return replace(payload, kept_going=None, aborted=not ended, text=_words(last) if ended else "")


def _conversation(records: list[Record]) -> list[Record]:
    """What both sides said; when a message is taken back, the whole history is written again."""
    spoken: list[Record] = []
    for record in records:
        rewritten = record.get("$set")
        if isinstance(rewritten, Mapping) and isinstance(rewritten.get("messages"), list):
            spoken = [each for each in rewritten["messages"] if isinstance(each, Mapping)]
        elif record.get("type") in ("user", "gemini"):
            spoken.append(record)
    return spoken


async def _copilot(payload: Payload, since: float) -> Payload:
    records = _until_now(payload)
    for _ in range(LOOKS):
        if records is not None:
            break
        await anyio.sleep(LOOK_SECONDS)
        records = _until_now(payload)
    if records is None:  # time is up: use what is there
        records = _records(payload.transcript) or []
    texts = [
        _words(record.get("data")) for record in records if _is_answer(record) and _moment(record) >= since
    ]
    return replace(payload, text=next((text for text in reversed(texts) if text.strip()), ""))


def _until_now(payload: Payload) -> list[Record] | None:
    """The records before this call; None until the transcript has it."""
    records = _records(payload.transcript) or []
    for place in range(len(records) - 1, -1, -1):
        data = records[place].get("data")
        told = data.get("input") if isinstance(data, Mapping) else None
        if isinstance(told, Mapping) and told.get("timestamp") == payload.stamp and "transcriptPath" in told:
            return records[:place]
    return None


def _is_answer(record: Record) -> bool:
    data = record.get("data")
    # with a parent call it is the answer of a subagent
    own = isinstance(data, Mapping) and not data.get("parentToolCallId")
    return record.get("type") == "assistant.message" and own


def _words(record: Any) -> str:
    content = record.get("content") if isinstance(record, Mapping) else None
    if isinstance(content, list):
        parts = [each.get("text") for each in content if isinstance(each, Mapping)]
        return "".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""


def _moment(record: Record) -> float:
    try:
        return datetime.fromisoformat(str(record.get("timestamp"))).timestamp()
    except (ValueError, OverflowError):
        return 0.0


def _records(path: str) -> list[Record] | None:
    """The complete lines at the end of a transcript; None if there is no such file."""
    try:
        if not Path(path).is_file():  # reading a pipe or a device might never end
            return None
        with Path(path).open("rb") as file:
            size = file.seek(0, 2)
            file.seek(max(0, size - TAIL_BYTES))
            lines = file.read().split(b"\n")
    except (OSError, ValueError):  # the path may have characters that no path can have
        return None
    return [record for line in lines if (record := _record(line)) is not None]


def _record(line: bytes) -> Record | None:
    try:
        record: Any = msgspec.json.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    return record if isinstance(record, Mapping) else None


READERS: dict[Transcript, Callable[[Payload, float], Awaitable[Payload]]] = {
    "claude": _claude,
    "gemini": _gemini,
    "copilot": _copilot,
}
