"""Whether a value can be the value of its key, and a sentence for whoever wrote it when it can't."""

from __future__ import annotations

import json
import math
import re
import reprlib
from collections.abc import Collection, Mapping
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from untilgreen.config.layers import Layers
from untilgreen.config.lines import Key
from untilgreen.errors import nearest

_WORDS: dict[Any, str] = {
    str: "text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    dict: "a table",
    list: "a list",
}
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_LARGEST = 2**63 - 1
_REPR = reprlib.Repr()
_REPR.maxstring = 80


def check_plain(layers: Layers, value: Any, path: Key = ()) -> None:
    """Refuse what the journal could not give back as it was: dates, infinity, text that is no Unicode."""
    match value:
        case Mapping():
            for key, inner in value.items():
                if not isinstance(key, str):
                    raise layers.error(path, f"{shown(path)} has the key {key!r}. A key must be text.")
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
                raise layers.error(path, f"{shown(path)} is too large. Write a smaller number.")
        case float():
            if not math.isfinite(value):
                raise layers.error(path, f"{shown(path)} = {value} must be a finite number.")
        case _:
            kind = type(value).__name__
            raise layers.error(path, f"{shown(path)} can't be a {kind}. Write it as text or as a number.")


def check_type(layers: Layers, path: Key, value: Any, kind: Any) -> None:
    """The value fits the type, and so does everything in it."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Literal:
        if value not in inner:
            raise layers.error(path, f"{shown(path)} can't be {_brief(value)}. {nearest(str(value), inner)}")
    elif not _is(value, kind):
        raise layers.error(path, f"{shown(path)} = {_brief(value)} must be {_in_words(kind)}.")
    elif origin in (Union, UnionType):
        check_type(layers, path, value, next(each for each in inner if _is(value, each)))
    elif origin is list:
        for place, each in enumerate(value):
            check_type(layers, (*path, place), each, inner[0])
    elif origin is dict:
        for key, each in value.items():
            check_type(layers, (*path, key), each, inner[1])


def check_known(
    layers: Layers, path: Key, table: Mapping[str, Any], known: Collection[str], who: str
) -> None:
    """Every key of the table is one of those."""
    for key in table:
        if key not in known:
            raise layers.error((*path, key), f"{who} {key!r}. {nearest(key, known)}")


def shown(path: Key) -> str:
    """A key as a person would write it; places in lists count from 1."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f" (entry {part + 1})"
        else:
            text += ("." if text else "") + (
                part if _BARE.fullmatch(part) else json.dumps(part, ensure_ascii=False)
            )
    return text or "the spec"


def _is(value: Any, kind: Any) -> bool:
    origin = get_origin(kind) or kind
    if origin in (Union, UnionType):
        return any(_is(value, each) for each in get_args(kind))
    if origin is Any:
        return True
    if origin in (int, float) and isinstance(value, bool):
        return False
    if origin is float:
        return isinstance(value, int | float)
    return isinstance(value, origin)


def _in_words(kind: Any) -> str:
    origin = get_origin(kind) or kind
    if origin in (Union, UnionType):
        return " or ".join(_in_words(each) for each in get_args(kind) if each is not NoneType)
    return _WORDS[origin]


def _check_text(layers: Layers, path: Key, text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise layers.error(path, f"{shown(path)} has bytes that are no text. Write it as UTF-8.") from error


def _brief(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else _REPR.repr(value)
