"""`session`: a mode, or a table with the defaults of loops in an agent's own session."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from untilgreen.config.checks.types import check_table, key_as_text
from untilgreen.config.sources.layers import Layers
from untilgreen.config.spec.schema import SessionTable
from untilgreen.core.values.units import count
from untilgreen.errors import ConfigError
from untilgreen.regex import regex

_TAG = regex(r"</?promise>", re.IGNORECASE)


def check_session(layers: Layers, written: str | Mapping[str, Any]) -> None:
    """Check each key on its own."""
    table = check_table(layers, "session", written)
    if "promise" in table:
        check_promise(layers, ("session", "promise"), table["promise"])
    if "max_iterations" in table:
        _check_laps(layers, table["max_iterations"])


def session_of(written: str | Mapping[str, Any]) -> SessionTable:
    """The table with its defaults filled in."""
    return msgspec.convert({"mode": written} if isinstance(written, str) else written, SessionTable)


def check_promise(layers: Layers, path: tuple[str, ...], promise: str) -> None:
    """Check that the promise is one line of text, without the tag around it."""
    name = key_as_text(path)
    if _TAG.search(promise):
        text = _TAG.sub("", promise).strip() or "DONE"
        raise layers.error(path, f"{name} = {promise!r} includes the tag. Write only the text: {text!r}.")
    if not promise.strip() or promise.splitlines() != [promise]:
        raise layers.error(path, f"{name} = {promise!r} must be one line of text, for example 'DONE'.")


def _check_laps(layers: Layers, laps: int | str) -> None:
    try:
        count(laps, "session.max_iterations")
    except ConfigError as error:
        raise layers.error(("session", "max_iterations"), str(error)) from error
