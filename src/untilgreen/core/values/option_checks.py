"""Checks options and keys against their msgspec types, with messages that say what is allowed."""

from __future__ import annotations

import math
from functools import cache
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from untilgreen.errors import ConfigError, nearest

DURATION, COUNT, MONEY = "duration", "count", "money"
"""Units that people write as text: `90s`, `200k`, `$5`."""
FromZero = Annotated[int, Meta(ge=0)]
FromOne = Annotated[int, Meta(ge=1)]
FromTwo = Annotated[int, Meta(ge=2)]
Share = Annotated[float, Meta(gt=0, le=1)]
Laps = FromOne | Literal["unlimited"]
"""The usual kinds of numbers."""
OTHER = "an object"
_LONGEST = 80


def about(description: str, unit: str = "") -> Meta:
    """Say what a key or an option is for, and the unit that it is written in."""
    return Meta(description=description, extra={"unit": unit} if unit else None)


@cache
def kinds_of(table: type[Struct]) -> dict[str, Any]:
    """The fields of a table, each with its type."""
    return {each.name: each.type for each in msgspec.structs.fields(table)}


def description_of(kind: Any) -> str:
    """What a field is for."""
    return next((each.description for each in _metas(kind) if each.description), "")


def unit_of(kind: Any) -> str:
    """The unit that a field is written in."""
    return next((str(each.extra["unit"]) for each in _metas(kind) if each.extra), "")


def check_options(owner: Struct) -> None:
    """Raise unless every option of a strategy or detector has its type and is within its bounds."""
    for name, kind in kinds_of(type(owner)).items():
        if wrong := misfit(getattr(owner, name), kind):
            raise ConfigError(f"{type(owner).__name__.lower()}: {name} {wrong}")


def misfit(value: Any, kind: Any) -> str:
    """Why a value does not fit a type, as the rest of a sentence about its key; empty if it fits."""
    if isinstance(value, float) and not math.isfinite(value):
        return f"= {value} must be a finite number."
    try:
        msgspec.convert(value, kind)
    except msgspec.ValidationError:
        choices = choices_of(kind)
        if choices:
            return f"can't be {shown_value(value)}. {nearest(str(value), choices)}"
        return f"= {shown_value(value)} must be {type_in_words(kind)}."
    return ""


def type_in_words(kind: Any) -> str:
    """A type as a person would describe its values."""
    return _in_words(_info(kind))


def shown_value(value: Any) -> str:
    """A value as an error shows it, cut if it is long."""
    text = str(value).lower() if isinstance(value, bool) else repr(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST // 2]}...{text[-_LONGEST // 3 :]}"


def _metas(kind: Any) -> tuple[Meta, ...]:
    return tuple(each for each in getattr(kind, "__metadata__", ()) if isinstance(each, Meta))


def _info(kind: Any) -> Any:
    from msgspec.inspect import type_info  # noqa: PLC0415 - only for errors, and slow to import

    return type_info(kind)


def choices_of(kind: Any) -> tuple[str, ...]:
    """The words that a value can be, if only some are allowed."""
    info = _info(kind)
    return tuple(map(str, getattr(getattr(info, "type", info), "values", ())))


_WORDS = {
    "StrType": "text",
    "IntType": "a whole number",
    "FloatType": "a number",
    "BoolType": "true or false",
    "DictType": "a table",
    "ListType": "a list",
    "VarTupleType": "a list",
    "CollectionType": "a list",
    "StructType": "a table",
    "DataclassType": "a table",
    "AnyType": "anything",
}


def _in_words(info: Any) -> str:
    name = type(info).__name__
    if name == "Metadata":
        return _in_words(info.type)
    if name == "UnionType":
        words = [_in_words(each) for each in info.types if type(each).__name__ != "NoneType"]
        return " or ".join(sorted(words, key=lambda each: "at" in each.split()))
    if name == "LiteralType":
        return " or ".join(f'"{value}"' for value in info.values)
    return _WORDS.get(name, OTHER) + _bounds(info)


def _bounds(info: Any) -> str:
    least, above, most = (getattr(info, name, None) for name in ("ge", "gt", "le"))
    if least is not None and most is not None:
        return f" from {least:g} to {most:g}"
    if above is not None and most is not None:
        return f" above {above:g} and at most {most:g}"
    if least is not None:
        return f", at least {least:g}"
    return ""
