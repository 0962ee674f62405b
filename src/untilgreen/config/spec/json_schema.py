"""The spec as a JSON Schema, for editors and for programs that write specs."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from untilgreen.config.spec.schema import (
    EXTENDS,
    MODES,
    PROFILES,
    TABLES,
    CommandTable,
    GateRules,
    SpecFile,
    defaults_of,
)
from untilgreen.core.values.limits import AUTO
from untilgreen.core.values.option_checks import COUNT, DURATION, MONEY, description_of, kinds_of, unit_of
from untilgreen.core.values.units import show_duration

DIALECT = "https://json-schema.org/draft/2020-12/schema"
Schema = dict[str, Any]

_UNLIMITED = "[Uu][Nn][Ll][Ii][Mm][Ii][Tt][Ee][Dd]"
_UNIT = "([Mm][Ss]|[SsMmHhDd])"
_WRITTEN = {
    COUNT: ("integer", rf"^\s*({_UNLIMITED}|\d+(\.\d+)?\s*[KkMmGg]?)\s*$"),
    DURATION: ("number", rf"^\s*({_UNLIMITED}|(\d+(\.\d+)?\s*{_UNIT}\s*)+)\s*$"),
    MONEY: ("number", rf"^\s*({_UNLIMITED}|\$?\s*\d+(\.\d+)?\s*([Uu][Ss][Dd]|\$)?)\s*$"),
}
"""Each unit as a number, and the pattern of its text."""


def spec_schema() -> Schema:
    """What `untilgreen.toml` may contain."""
    table, profile = _spec(), _spec()
    profile["properties"]["extends"] = {"type": "string", "description": EXTENDS}
    table["properties"]["profiles"] = {
        "type": "object",
        "description": PROFILES,
        "additionalProperties": profile,
    }
    return {"$schema": DIALECT, "title": "untilgreen.toml", **table}


def _spec() -> Schema:
    whole = _table(SpecFile)
    properties = whole["properties"]
    for name, table in TABLES.items():
        description = properties[name]["description"]
        shape = _table(table)
        if name in MODES:
            mode = shape["properties"]["mode"]
            shape = {"anyOf": [mode, shape], "default": mode["default"]}
        properties[name] = {**shape, "description": description}
    properties["gates"] = {
        "type": "object",
        "description": properties["gates"]["description"],
        "additionalProperties": _gate(),
    }
    return whole


def _table(of: type[Struct]) -> Schema:
    """A table of the spec; TOML can't express null."""
    _, parts = msgspec.json.schema_components([of])
    kinds, defaults = kinds_of(of), defaults_of(of)
    properties = {
        name: _key(_without_null(shape), kinds[name], defaults[name])
        for name, shape in parts[of.__name__]["properties"].items()
    }
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _key(shape: Schema, kind: Any, default: Any) -> Schema:
    unit = unit_of(kind)
    if unit:
        number, pattern = _WRITTEN[unit]
        texts: list[Schema] = [{"type": "string", "pattern": pattern}]
        if default == AUTO:
            texts.append({"const": AUTO})
        shape = {"anyOf": [{"type": number, "exclusiveMinimum": 0}, *texts]}
    if unit == DURATION and isinstance(default, float):
        default = show_duration(default)
    known = {"default": default} if default not in (None, {}, msgspec.NODEFAULT) else {}
    return {**shape, "description": description_of(kind), **known}


def _without_null(shape: Schema) -> Schema:
    plain = {key: value for key, value in shape.items() if not (key == "default" and value is None)}
    if "anyOf" in plain:
        kinds = [kind for kind in plain.pop("anyOf") if kind != {"type": "null"}]
        plain |= kinds[0] if len(kinds) == 1 else {"anyOf": kinds}
    return plain


def _gate() -> Schema:
    """A command has known keys; the options of other kinds are up to them."""
    rules, command = _table(GateRules), _table(CommandTable)
    other = {"anyOf": [{"required": ["kind"]}, {"required": ["use"]}]}
    named = {"properties": {"kind": {"const": "command"}, "use": {"const": "command"}}}
    return {
        "type": "object",
        "properties": rules["properties"],
        "if": {"anyOf": [{"not": other}, {**other, **named}]},
        "then": {
            "properties": dict.fromkeys(rules["properties"], True) | command["properties"],
            "additionalProperties": False,
        },
    }
