"""What an agent said last, and whether it came to say it, where its payload alone does not tell.

Gemini CLI hands over everything that was said since the person's own words, and calls its stop hook for a
turn that was broken off, too: its transcript has the answer of each turn that came to an end, and none for
one that did not. GitHub Copilot CLI hands over no text at all, and writes its transcript behind the hook's
back: the record of this very call is what has to be waited for.
The watermark is the moment at which the brief was offered: what is older belongs to an earlier lap.
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

LOOK_SECONDS = 0.05
LOOKS = 60
TAIL_BYTES = 4_000_000
"""How much of a transcript is looked at; a lap that says more has its last words in there all the same."""
_BETWEEN = " \n"
"""What Gemini CLI puts between two answers of one turn."""
Record = Mapping[str, Any]


async def completed(agent: str, payload: Payload, since: float) -> Payload:
    """The payload of a stop with the last words of the lap that began then."""
    reader = READERS.get(agent)
    return payload if reader is None else await reader(payload, since)


async def _gemini(payload: Payload, since: float) -> Payload:
    """Its flag for a turn that was kept going is down again after every use of a tool, so it says nothing."""
    spoken = _conversation(_records(payload.transcript) or [])
    if not spoken:
        return replace(payload, kept_going=None, text=payload.text.rstrip().rpartition(_BETWEEN)[2])
    last = spoken[-1]
    ended = last.get("type") == "gemini" and _moment(last) >= since
    return replace(payload, kept_going=None, aborted=not ended, text=_words(last) if ended else "")


def _conversation(records: list[Record]) -> list[Record]:
    """What both sides said; the history is written anew where something was taken back."""
    spoken: list[Record] = []
    for record in records:
        anew = record.get("$set")
        if isinstance(anew, Mapping) and isinstance(anew.get("messages"), list):
            spoken = [each for each in anew["messages"] if isinstance(each, Mapping)]
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
    if records is None:  # it is late, so what there is has to do
        records = _records(payload.transcript) or []
    texts = [
        _words(record.get("data")) for record in records if _is_answer(record) and _moment(record) >= since
    ]
    return replace(payload, text=next((text for text in reversed(texts) if text.strip()), ""))


def _until_now(payload: Payload) -> list[Record] | None:
    """The records before this call; None until the transcript knows of it."""
    records = _records(payload.transcript) or []
    for place in range(len(records) - 1, -1, -1):
        data = records[place].get("data")
        told = data.get("input") if isinstance(data, Mapping) else None
        if isinstance(told, Mapping) and told.get("timestamp") == payload.stamp and "transcriptPath" in told:
            return records[:place]
    return None


def _is_answer(record: Record) -> bool:
    data = record.get("data")
    own = isinstance(data, Mapping) and not data.get(
        "parentToolCallId"
    )  # else a helper of the agent's said it
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
    """The lines at the end of a transcript; None where there is none. Half a line is none yet."""
    try:
        if not Path(path).is_file():  # reading a pipe or a device might never end
            return None
        with Path(path).open("rb") as file:
            size = file.seek(0, 2)
            file.seek(max(0, size - TAIL_BYTES))
            lines = file.read().split(b"\n")
    except (OSError, ValueError):  # a name may hold what no file's name can
        return None
    return [record for line in lines if (record := _record(line)) is not None]


def _record(line: bytes) -> Record | None:
    try:
        record: Any = msgspec.json.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    return record if isinstance(record, Mapping) else None


READERS: dict[str, Callable[[Payload, float], Awaitable[Payload]]] = {"gemini": _gemini, "copilot": _copilot}
