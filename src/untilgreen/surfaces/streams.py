"""Writing to a stream that may have lost its reader: whoever stops reading does not stop a run."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TextIO

_NOBODY = (errno.EPIPE, errno.EIO)
"""A pipe without a reader, and a terminal that was closed."""


def write(stream: TextIO, text: str) -> None:
    """All of it, at once; into nothing where nobody reads any more."""
    try:
        stream.write(text)
        stream.flush()
    except OSError as error:
        _give_up(stream, error)


def write_bytes(stream: TextIO, data: bytes) -> None:
    """The same for what must not be touched by the terminal's encoding."""
    try:
        stream.flush()
        stream.buffer.write(data)
        stream.flush()
    except OSError as error:
        _give_up(stream, error)


def on_actions(env: Mapping[str, str]) -> bool:
    """Whether a runner of GitHub's reads what we print."""
    return env.get("GITHUB_ACTIONS") == "true"


@contextmanager
def no_commands(env: Mapping[str, str]) -> Iterator[None]:
    """Nothing that is printed inside is a command to the runner."""
    if not on_actions(env):
        yield
        return
    import secrets

    word = secrets.token_hex(16)
    write(sys.stdout, f"::stop-commands::{word}\n")
    try:
        yield
    finally:
        write(sys.stdout, f"::{word}::\n")


class Lasting:
    """A stream for others to write to, with the same patience."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """All of it, or into nothing."""
        write(self._stream, text)
        return len(text)

    def flush(self) -> None:
        """Done already."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _give_up(stream: TextIO, error: OSError) -> None:
    """From now on the text goes nowhere, as `head` and its like expect."""
    if error.errno not in _NOBODY:
        raise error
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
