"""Writing to a stream whose reader may be gone: a closed pipe or terminal never stops a run."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TextIO

_NOBODY = (errno.EPIPE, errno.EIO)
"""A pipe without a reader, and a closed terminal."""
_lost: list[OSError] = []


def write(stream: TextIO, text: str) -> None:
    """Write all of it at once; discard it if nobody reads any more."""
    try:
        stream.write(text)
        stream.flush()
    except OSError as error:
        _give_up(stream, error)


def write_bytes(stream: TextIO, data: bytes) -> None:
    """The same for bytes that must not be re-encoded."""
    try:
        stream.flush()
        stream.buffer.write(data)
        stream.flush()
    except OSError as error:
        _give_up(stream, error)


def on_actions(env: Mapping[str, str]) -> bool:
    """Whether this runs on GitHub Actions."""
    return env.get("GITHUB_ACTIONS") == "true"


@contextmanager
def no_commands(env: Mapping[str, str]) -> Iterator[None]:
    """Nothing printed in this block is taken as a workflow command."""
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


class TolerantStream:
    """A stream for libraries to write to, with the same tolerance."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write all of it, or discard it."""
        write(self._stream, text)
        return len(text)

    def flush(self) -> None:
        """Nothing to do: every write flushes."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def lost() -> OSError | None:
    """Why output could not be written, unless the reader just went away."""
    return _lost[0] if _lost else None


def _give_up(stream: TextIO, error: OSError) -> None:
    """Discard text from now on: a run is driven to its end even if its output can't be shown."""
    if error.errno not in _NOBODY:
        _lost.append(error)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
