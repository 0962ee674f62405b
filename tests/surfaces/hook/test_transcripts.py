"""Transcripts, which an agent may replace with anything."""

import json
import os
import tracemalloc
from datetime import UTC, datetime
from pathlib import Path

import anyio
import msgspec
import pytest

from tests.surfaces.hook.helpers import DONE, Session
from untilgreen.surfaces.hook.payload import Payload
from untilgreen.surfaces.hook.transcripts import TAIL_BYTES, completed


def last_words(path: Path) -> str:
    payload = Payload(transcript=str(path), text="as told")
    return anyio.run(completed, "gemini", payload, 0.0).text


@pytest.mark.timeout(30)
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "transcript")

    assert last_words(tmp_path / "transcript") == "as told"


def test_of_a_transcript_of_any_size_the_end_is_read(tmp_path: Path) -> None:
    said = {"type": "gemini", "timestamp": "2026-01-01T00:00:00Z", "content": "the last words"}
    with (tmp_path / "transcript").open("wb") as file:
        file.write(b"\n" + msgspec.json.encode({"$set": {"messages": []}}) + b"\n")
        file.seek(50 * TAIL_BYTES)
        file.write(b"\n" + msgspec.json.encode(said) + b"\n")

    tracemalloc.start()
    try:
        assert last_words(tmp_path / "transcript") == "the last words"
        assert tracemalloc.get_traced_memory()[1] < 10 * TAIL_BYTES
    finally:
        tracemalloc.stop()


def test_a_name_that_no_file_can_have_does_no_harm() -> None:
    assert last_words(Path("a\0b")) == "as told"


def test_a_transcript_that_is_missing_is_not_a_claim(session: Session) -> None:
    session.start("look at it", "--gate", "ok=true")
    payload = session.payload(active=False, transcript_path=str(session.place.parent / "missing.jsonl"))
    del payload["last_assistant_message"]

    assert "ITERATION 2/" in session.hook("stop", payload).brief
    assert [event.claim for event in session.events("TurnEnded")] == [False]


def test_an_old_claude_that_names_only_its_transcript_is_heard_there(session: Session) -> None:
    transcript = session.place.parent / "claude.jsonl"
    session.start("look at it", "--gate", "ok=true")
    moment = datetime.now(UTC).isoformat()
    said = [
        {"type": "assistant", "timestamp": "2020-01-01T00:00:00Z", "message": {"content": "an older lap"}},
        {"type": "assistant", "timestamp": moment, "message": {"content": [{"type": "text", "text": DONE}]}},
        {"type": "assistant", "timestamp": moment, "message": {"content": [{"type": "tool_use", "id": "1"}]}},
        {"type": "assistant", "timestamp": moment, "isSidechain": True, "message": {"content": "a subagent"}},
    ]
    transcript.write_text("".join(json.dumps(each) + "\n" for each in said))
    payload = session.payload(transcript_path=str(transcript))
    del payload["last_assistant_message"]

    answer = session.hook("stop", payload)

    assert "complete after 1 lap" in answer.toast
    assert [event.reply.text for event in session.events("TurnEnded")] == [DONE]
