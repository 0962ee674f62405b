"""The agent's conversations, as they are written: a word, or a table with what holds inside of a session."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from untilgreen.config.layers import Layers
from untilgreen.config.schema import SessionTable, kinds_of
from untilgreen.config.values import check_known, check_type, shown
from untilgreen.core.units import count
from untilgreen.errors import ConfigError

_TAG = re.compile(r"</?promise>", re.IGNORECASE)


def check_session(layers: Layers, written: str | Mapping[str, Any]) -> None:
    """Every key by itself."""
    table = {"mode": written} if isinstance(written, str) else written
    kinds = kinds_of(SessionTable)
    check_known(layers, ("session",), table, kinds, "the session has no key")
    for key, value in table.items():
        path = ("session",) if isinstance(written, str) else ("session", key)
        check_type(layers, path, value, kinds[key])
    if "promise" in table:
        check_promise(layers, ("session", "promise"), table["promise"])
    if "max_iterations" in table:
        _check_laps(layers, table["max_iterations"])


def session_of(written: str | Mapping[str, Any]) -> SessionTable:
    """The table with every key."""
    return msgspec.convert({"mode": written} if isinstance(written, str) else written, SessionTable)


def check_promise(layers: Layers, path: tuple[str, ...], promise: str) -> None:
    """Some words on one line, without the tag around them."""
    name = shown(path)
    if _TAG.search(promise):
        text = _TAG.sub("", promise).strip() or "DONE"
        raise layers.error(path, f"{name} = {promise!r} has the tag in it. Write only its text: {text!r}.")
    if not promise.strip() or promise.splitlines() != [promise]:
        raise layers.error(path, f"{name} = {promise!r} must be some words on one line, for example 'DONE'.")


def _check_laps(layers: Layers, laps: int | str) -> None:
    try:
        count(laps, "session.max_iterations")
    except ConfigError as error:
        raise layers.error(("session", "max_iterations"), str(error)) from error
