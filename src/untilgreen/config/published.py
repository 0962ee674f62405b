"""The spec as a JSON Schema, for editors and for whoever writes specs by program."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from untilgreen.config import words
from untilgreen.config.schema import (
    FRESH,
    CommandTable,
    GateRules,
    IntegrityTable,
    SandboxTable,
    SessionTable,
    SpecFile,
    WorkspaceTable,
    defaults_of,
)
from untilgreen.core.limits import Limits
from untilgreen.core.model import IN_PLACE, NO_SANDBOX
from untilgreen.core.units import show_duration

DIALECT = "https://json-schema.org/draft/2020-12/schema"
Schema = dict[str, Any]

_UNLIMITED = "[Uu][Nn][Ll][Ii][Mm][Ii][Tt][Ee][Dd]"
_UNIT = "([Mm][Ss]|[SsMmHhDd])"
_DURATION = rf"^\s*({_UNLIMITED}|(\d+(\.\d+)?\s*{_UNIT}\s*)+)\s*$"
_COUNT = rf"^\s*({_UNLIMITED}|\d+(\.\d+)?\s*[KkMmGg]?)\s*$"
_MONEY = rf"^\s*({_UNLIMITED}|\$?\s*\d+(\.\d+)?\s*([Uu][Ss][Dd]|\$)?)\s*$"
_WRITTEN = {
    **dict.fromkeys(("iterations", "errors", "tokens", "waits"), ("integer", _COUNT)),
    **dict.fromkeys(("time", "lap", "wait", "silence"), ("number", _DURATION)),
    **dict.fromkeys(("cost", "token_price"), ("number", _MONEY)),
}


def spec_schema() -> Schema:
    """What `untilgreen.toml` may say."""
    table, profile = _table(SpecFile, words.SPEC), _table(SpecFile, words.SPEC)
    for each in (table, profile):
        each["properties"] |= {
            "limits": _limits(),
            "gates": {"additionalProperties": _gate()},
            "integrity": _table(IntegrityTable, words.INTEGRITY),
            "session": _session(),
            "workspace": _workspace(),
            "sandbox": _sandbox(),
        }
        for name in ("limits", "gates", "integrity"):
            each["properties"][name] |= {"type": "object", "description": words.SPEC[name]}
    profile["properties"]["extends"] = {"type": "string", "description": words.EXTENDS}
    table["properties"]["profiles"] = {
        "type": "object",
        "description": words.SPEC["profiles"],
        "additionalProperties": profile,
    }
    return {"$schema": DIALECT, "title": "untilgreen.toml", **table}


def _table(of: type[Struct], said: dict[str, str]) -> Schema:
    """A table of the spec with its words; null can't be written in TOML."""
    _, parts = msgspec.json.schema_components([of])
    whole = parts[of.__name__]
    defaults = {
        name: {"default": value}
        for name, value in defaults_of(of).items()
        if value not in (None, {}, msgspec.NODEFAULT)
    }
    properties = {
        name: {"description": said[name], **_without_null(shape), **defaults.get(name, {})}
        for name, shape in whole["properties"].items()
    }
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _workspace() -> Schema:
    table = _table(WorkspaceTable, words.WORKSPACE)
    shape = {"anyOf": [table["properties"]["mode"], table], "default": IN_PLACE}
    return {"description": words.SPEC["workspace"], **shape}


def _sandbox() -> Schema:
    table = _table(SandboxTable, words.SANDBOX)
    shape = {"anyOf": [table["properties"]["mode"], table], "default": NO_SANDBOX}
    return {"description": words.SPEC["sandbox"], **shape}


def _session() -> Schema:
    table = _table(SessionTable, words.SESSION)
    shape = {"anyOf": [table["properties"]["mode"], table], "default": FRESH}
    return {"description": words.SPEC["session"], **shape}


def _without_null(shape: Schema) -> Schema:
    plain = {key: value for key, value in shape.items() if not (key == "default" and value is None)}
    if "anyOf" in plain:
        kinds = [kind for kind in plain.pop("anyOf") if kind != {"type": "null"}]
        plain |= kinds[0] if len(kinds) == 1 else {"anyOf": kinds}
    return plain


def _limits() -> Schema:
    table = _table(Limits, words.LIMITS)
    for name, (kind, pattern) in _WRITTEN.items():
        shape = table["properties"][name]
        for key in ("anyOf", "type"):
            shape.pop(key, None)
        if pattern == _DURATION and isinstance(shape.get("default"), float):
            shape["default"] = show_duration(shape["default"])
        texts: list[Schema] = [{"type": "string", "pattern": pattern}]
        if name == "silence":
            texts.append({"const": "auto"})
        shape["anyOf"] = [{"type": kind, "exclusiveMinimum": 0}, *texts]
    return table


def _gate() -> Schema:
    """A command has known keys; what other kinds take is theirs to say."""
    rules, command = _table(GateRules, words.GATE), _table(CommandTable, words.COMMAND)
    rules["properties"]["timeout"] = {
        "description": words.GATE["timeout"],
        "default": "10m",
        "anyOf": [{"type": "number", "exclusiveMinimum": 0}, {"type": "string", "pattern": _DURATION}],
    }
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
