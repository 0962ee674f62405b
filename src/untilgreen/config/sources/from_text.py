"""Values given as text: environment variables, `--set` and `--gate`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from untilgreen.config.sources.toml_lines import PART
from untilgreen.config.spec.schema import wants_text
from untilgreen.errors import ConfigError, UserError, readable
from untilgreen.regex import regex

_NAMED_GATE = regex(r"([A-Za-z][\w-]*)=(.*)", re.DOTALL)
_VARIABLE = regex(r"""\s*[A-Z_][A-Z0-9_]*=(?:'[^']*'|"[^"]*"|[^\s'"])*\s+(?=[^\s-])""")
"""A variable of the environment and its value, as a shell reads them in front of a command."""
_NUMBER = regex(r"0|[1-9][0-9]{0,17}")
_SET = regex(rf"\s*(?P<key>{PART}(?:\s*\.\s*{PART})*)\s*=(?P<value>.*)", re.DOTALL)


def assignment(written: str) -> tuple[tuple[str, ...], Any]:
    """The key and the value of `--set dotted.key=value`; a quoted part of the key may contain dots."""
    match = _SET.fullmatch(written)
    try:
        path = _split(match["key"]) if match else ()
    except ValueError:
        path = ()
    if match is None or not path:
        raise ConfigError(f"--set {written!r} is not key=value. Write it like --set limits.iterations=12.")
    return path, value_of(path, match["value"].strip())


def value_of(path: tuple[str, ...], text: str) -> Any:
    """A TOML value, or else the text itself: `--set strategy=fixed` needs no quotes."""
    value = toml_value(text)
    return text if wants_text(path) and not isinstance(value, str) else value


def toml_value(text: str) -> Any:
    """The text as a TOML value, or else the text itself."""
    if _NUMBER.fullmatch(text):
        return int(text)  # as most limits are: loading the parser would take longer than the rest
    try:
        read = _loads(f"value = {text}")
    except (ValueError, RecursionError):
        return text
    return read["value"] if len(read) == 1 else text


def _loads(text: str) -> dict[str, Any]:
    import tomllib  # noqa: PLC0415 - few commands set anything

    return tomllib.loads(text)


def _split(key: str) -> tuple[str, ...]:
    path: list[str] = []
    inner: Any = _loads(f"{key} = 0")
    while isinstance(inner, dict):
        ((name, inner),) = inner.items()
        path.append(name)
    return tuple(path)


def gates_from(written: Sequence[str]) -> dict[str, Any]:
    """Gates as flags give them: `name=command`, or a command that is its own name.

    `PYTHONPATH=src pytest` is a command: names of variables are upper case, names of gates are not.
    """
    gates: dict[str, Any] = {}
    for each in written:
        text = readable(each, "A gate")
        named = None if _VARIABLE.match(text) else _NAMED_GATE.fullmatch(text)
        name, command = (named[1], named[2]) if named else (each, each)
        if name in gates:
            raise UserError(f"The gate {name!r} was given twice. Name them apart: NAME='{command}'.")
        gates[name] = {"run": command}
    return gates
