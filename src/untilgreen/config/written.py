"""Values that come as text: in variables of the environment, and behind `--set`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from typing import Any

from untilgreen.config.lines import PART
from untilgreen.config.schema import wants_text
from untilgreen.errors import ConfigError, UserError, readable

_NAMED_GATE = re.compile(r"([A-Za-z][\w-]*)=(.*)", re.DOTALL)
_SET = re.compile(rf"\s*(?P<key>{PART}(?:\s*\.\s*{PART})*)\s*=(?P<value>.*)", re.DOTALL)


def assignment(written: str) -> tuple[tuple[str, ...], Any]:
    """The key and the value of `--set dotted.key=value`; a quoted part of the key may have dots."""
    match = _SET.fullmatch(written)
    try:
        path = _split(match["key"]) if match else ()
    except tomllib.TOMLDecodeError:
        path = ()
    if match is None or not path:
        raise ConfigError(f"--set {written!r} is not key=value. Write it like --set limits.iterations=12.")
    return path, value_of(path, match["value"].strip())


def value_of(path: tuple[str, ...], text: str) -> Any:
    """A TOML value, or the text itself where it is none: `--set strategy=fixed` needs no quotes."""
    value = toml_value(text)
    return text if wants_text(path) and not isinstance(value, str) else value


def toml_value(text: str) -> Any:
    """The one value that the text is, or the text."""
    try:
        read = tomllib.loads(f"value = {text}")
    except (ValueError, RecursionError):
        return text
    return read["value"] if len(read) == 1 else text


def _split(key: str) -> tuple[str, ...]:
    path: list[str] = []
    inner: Any = tomllib.loads(f"{key} = 0")
    while isinstance(inner, dict):
        ((name, inner),) = inner.items()
        path.append(name)
    return tuple(path)


def gates_from(written: Sequence[str]) -> dict[str, Any]:
    """Gates as they are given outside of a file: `name=command`, or a command that is its own name."""
    gates: dict[str, Any] = {}
    for each in written:
        named = _NAMED_GATE.fullmatch(readable(each, "A gate"))
        name, command = (named[1], named[2]) if named else (each, each)
        if name in gates:
            raise UserError(f"The gate {name!r} was given twice. Name them apart: NAME='{command}'.")
        gates[name] = {"run": command}
    return gates
