"""Recorded runs of any agent, one JSON object per line, as values."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple

from msgspec import DecodeError as NotJson
from msgspec import Struct, ValidationError, json

from untilgreen.errors import UserError

_GZIP = b"\x1f\x8b"


class Step(Struct, frozen=True, kw_only=True):
    """What an agent did, and the result."""

    action: str
    observation: str
    reward: float | None = None
    """A score from 0 to 1, if there was one."""
    attempt: int | None = None
    """The number of the fresh start that this step belongs to, if there were several."""


class Trajectory(Struct, frozen=True, kw_only=True):
    """One run; its labels may be missing, and then there is nothing to measure against."""

    source: str
    id: str
    steps: tuple[Step, ...]
    agent: str = ""
    """The agent, if known; strategies can learn from runs of the same agent."""
    success: bool | None = None
    terminal_loop: bool | None = None
    """Whether it failed after repeating three or more earlier steps at its end."""
    terminal_loop_onset: int | None = None
    """The first step of that repetition."""

    @property
    def attempts(self) -> list[tuple[int, int, int]]:
        """Each fresh start as (its number, its first step, the step after its last); empty if unnumbered."""
        if any(step.attempt is None for step in self.steps):
            return []
        begins = [
            place
            for place, step in enumerate(self.steps)
            if place == 0 or step.attempt != self.steps[place - 1].attempt
        ]
        ends = [*begins[1:], len(self.steps)]
        return [(self.steps[begin].attempt or 0, begin, end) for begin, end in zip(begins, ends, strict=True)]


class Line(NamedTuple):
    """A line of the file, its number, and how much of the file is read by now."""

    number: int
    text: bytes
    read: int


def lines(path: Path) -> Iterator[Line]:
    """The lines that are not empty, from a plain or a gzipped file."""
    with _readable(path), path.open("rb") as file:
        packed = file.peek(2)[:2] == _GZIP
        # A GzipFile reads like any binary file, which typeshed does not know.
        text: BinaryIO = gzip.GzipFile(fileobj=file) if packed else file  # type: ignore[assignment]  # it reads
        for number, line in enumerate(text, 1):
            if line.strip():
                yield Line(number, line, file.tell())


def parse(line: bytes, number: int, path: str) -> Trajectory:
    """The run in that line; raises an error that says what is wrong with it."""
    try:
        return json.decode(line, type=Trajectory)
    except (ValidationError, NotJson, UnicodeDecodeError, RecursionError) as error:
        raise UserError(
            f"{path}, line {number}: {error}. Each line is one run: "
            '{"source": …, "id": …, "steps": [{"action": …, "observation": …}, …]}.'
        ) from error


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, EOFError, zlib.error) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise UserError(f"{path} can't be read: {why}. Name a file of JSON lines, gzipped or not.") from error
