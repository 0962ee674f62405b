"""A scenario: what the scripted model answers to its n-th request, read from a file or a value."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct, field

from untilgreen.errors import UserError


class Write(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A file to write, with whichever tool the agent offers for it."""

    path: str
    content: str = ""


class Call(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One tool call: portable (`write`, `shell`), or by the tool's own name and arguments."""

    write: Write | None = None
    shell: str | None = None
    name: str | None = None
    args: dict[str, Any] = field(default_factory=dict)
    input: str | None = None
    """For tools that take text instead of arguments."""


class Figures(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The tokens that an answer claims to have used; None estimates them from its length."""

    input: int | None = None
    output: int | None = None
    cache_read: int = 0
    cache_write: int = 0


class Answer(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The answer to one request: text, tool calls, or an error."""

    text: str = ""
    calls: tuple[Call, ...] = ()
    repeat: int = 1
    """How many requests get it."""
    error: int | None = None
    """The HTTP status of an error to send in place of an answer."""
    message: str | None = None
    retry_after: float | None = None
    headers: dict[str, str] = field(default_factory=dict)
    body: dict[str, Any] | None = None
    """The body of the error, in place of the API's usual one."""
    delay: float = 0.0
    """Seconds before the first byte."""
    chunk: int = 40
    """Characters in one piece of a stream."""
    chunk_delay: float = 0.0
    """Seconds between two pieces."""
    drop_after: int | None = None
    """Cuts the connection after this many pieces; 0: before the answer begins."""
    hang: float = 0.0
    """Sends the beginning and then nothing for this many seconds."""
    stream_error: bool = False
    """An error in a stream that began well."""
    usage: Figures = Figures()


class Side(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Side requests, such as for a title, that use up no answer of the script."""

    when: Literal["no_tools", "never"] = "no_tools"
    """Whether a request without tools is a side request."""
    containing: str = ""
    """A request whose last user message contains this is a side request, with tools or not."""
    text: str = "A scripted title"

    def takes(self, last_user: str, *, tools: bool) -> bool:
        """Whether it is a side request."""
        named = bool(self.containing) and self.containing in last_user
        return named or (self.when == "no_tools" and not tools)


class Scenario(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All answers, in order."""

    turns: tuple[Answer, ...]
    then: Literal["last", "loop", "error"] = "last"
    """What follows the last answer: that one again, all of them again, or status 500."""
    side: Side = Side()
    no_tools_as: Literal["aider", "bash"] = "aider"
    """How a file is written down for an agent that offers no tools."""
    vars: dict[str, str] = field(default_factory=dict)
    """Values for `${name}` in any text."""

    def answer(self, number: int) -> Answer:
        """What the n-th request gets, counted from 0."""
        turns = [turn for turn in self.turns for _ in range(turn.repeat)]
        if number < len(turns):
            return turns[number]
        if self.then == "error":
            return Answer(error=500, message="the scenario is over")
        return turns[number % len(turns)] if self.then == "loop" else turns[-1]


def scenario_of(written: Any, **variables: str) -> Scenario:
    """A scenario from a value, or from a list of answers; raises an error that says what is wrong."""
    value = {"turns": written} if isinstance(written, list | tuple) else msgspec.to_builtins(written)
    try:
        known = {**msgspec.convert(value, Scenario).vars, **variables}
        scenario = msgspec.convert(_filled({**value, "vars": known}, known), Scenario)
    except msgspec.ValidationError as error:
        raise UserError(f"The scenario can't be played: {error}. Correct it.") from error
    if not scenario.turns or any(turn.repeat < 1 for turn in scenario.turns):
        raise UserError("The scenario has no answer. Write at least one in `turns`, and repeat none 0 times.")
    return scenario


def load_scenario(path: Path, **variables: str) -> Scenario:
    """A scenario from a TOML or JSON file."""
    try:
        text = path.read_text(encoding="utf-8")
        written = tomllib.loads(text) if path.suffix == ".toml" else msgspec.json.decode(text)
    except (OSError, ValueError) as error:
        raise UserError(f"The scenario {str(path)!r} can't be read: {error}. Name another file.") from error
    return scenario_of(written, **variables)


def _filled(value: Any, variables: dict[str, str]) -> Any:
    if isinstance(value, str):
        return re.sub(r"\$\{(\w+)\}", lambda found: variables.get(found[1], found[0]), value)
    if isinstance(value, list):
        return [_filled(each, variables) for each in value]
    if isinstance(value, dict):
        return {key: _filled(each, variables) for key, each in value.items()}
    return value
