"""Transcripts, which an agent can put in place of by anything else."""

import os
import tracemalloc
from pathlib import Path

import anyio
import msgspec
import pytest

from untilgreen.surfaces.hook.payload import Payload
from untilgreen.surfaces.hook.transcripts import TAIL_BYTES, completed


def last_words(path: Path) -> str:
    payload = Payload(transcript=str(path), text="as told")
    return anyio.run(completed, "gemini", payload, 0.0).text


@pytest.mark.timeout(30)
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes among files")
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


def test_a_name_that_no_file_can_have_is_no_trouble() -> None:
    assert last_words(Path("a\0b")) == "as told"
