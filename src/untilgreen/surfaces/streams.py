"""Writing to a stream that may have lost its reader: whoever stops reading does not stop a run."""

from __future__ import annotations

import os
from typing import TextIO


def write(stream: TextIO, text: str) -> None:
    """All of it, at once; into nothing where nobody reads any more."""
    try:
        stream.write(text)
        stream.flush()
    except BrokenPipeError:
        _give_up(stream)


def write_bytes(stream: TextIO, data: bytes) -> None:
    """The same for what must not be touched by the terminal's encoding."""
    try:
        stream.flush()
        stream.buffer.write(data)
        stream.flush()
    except BrokenPipeError:
        _give_up(stream)


def _give_up(stream: TextIO) -> None:
    """From now on the text goes nowhere, as `head` and its like expect."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
