"""Whether a value fits its key: msgspec checks types and bounds, errors name the key and its place."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Any, get_args, get_origin

from untilgreen.config.sources.layers import Layers
from untilgreen.config.sources.toml_lines import Key
from untilgreen.config.spec.schema import TABLES, members
from untilgreen.core.values.option_checks import kinds_of, misfit
from untilgreen.errors import nearest
from untilgreen.regex import regex

_BARE = regex(r"[A-Za-z0-9_-]+")
_LARGEST = 2**63 - 1


def check_plain(layers: Layers, value: Any, path: Key = ()) -> None:
    """Refuse what a journal can't store: dates, infinity, text that is not Unicode."""
    match value:
        case Mapping():
            for key, inner in value.items():
                if not isinstance(key, str):
                    raise layers.error(path, f"{key_as_text(path)} has the key {key!r}. A key must be text.")
                _check_text(layers, path, key)
                check_plain(layers, inner, (*path, key))
        case list():
            for place, inner in enumerate(value):
                check_plain(layers, inner, (*path, place))
        case str():
            _check_text(layers, path, value)
        case bool():
            pass
        case int():
            if abs(value) > _LARGEST:
                raise layers.error(path, f"{key_as_text(path)} is too large. Write a smaller number.")
        case float():
            if not math.isfinite(value):
                raise layers.error(path, f"{key_as_text(path)} = {value} must be a finite number.")
        case _:
            kind = type(value).__name__
            raise layers.error(
                path, f"{key_as_text(path)} can't be a {kind}. Write it as text or as a number."
            )


def check_table(layers: Layers, name: str, written: Mapping[str, Any] | str) -> Mapping[str, Any]:
    """Check each key of a table on its own, and return the table; a single word is its mode."""
    table = {"mode": written} if isinstance(written, str) else written
    kinds = kinds_of(TABLES[name])
    check_known(layers, (name,), table, kinds, f"{name} has no key")
    for key, value in table.items():
        check_type(layers, (name,) if isinstance(written, str) else (name, key), value, kinds[key])
    return table


def check_type(layers: Layers, path: Key, value: Any, kind: Any) -> None:
    """Check that the value fits the type, and everything in it as well."""
    outer = next((each for each in members(kind) if get_origin(each) is type(value)), None)
    if outer is None:
        if wrong := misfit(value, kind):
            raise layers.error(path, f"{key_as_text(path)} {wrong}")
        return
    inner = get_args(outer)[-1]
    for place, each in value.items() if isinstance(value, dict) else enumerate(value):
        check_type(layers, (*path, place), each, inner)


def check_known(
    layers: Layers, path: Key, table: Mapping[str, Any], known: Collection[str], who: str
) -> None:
    """Check that every key of the table is known."""
    for key in table:
        if key not in known:
            raise layers.error((*path, key), f"{who} {key!r}. {nearest(key, known)}")


def key_as_text(path: Key) -> str:
    """A key as a person would write it; places in lists count from 1."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f" (entry {part + 1})"
        else:
            text += ("." if text else "") + (part if _BARE.fullmatch(part) else _quoted(part))
    return text or "the spec"


def _quoted(part: str) -> str:
    import json  # noqa: PLC0415 - few keys need quotes

    return json.dumps(part, ensure_ascii=False)


def _check_text(layers: Layers, path: Key, text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise layers.error(
            path, f"{key_as_text(path)} has bytes that are not text. Write it as UTF-8."
        ) from error
