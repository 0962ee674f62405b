"""Every setting that holds, with its value and where it came from."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from untilgreen.config.layers import Layers
from untilgreen.config.load import Loaded
from untilgreen.config.schema import GATE_TIMEOUT, GateRules, IntegrityTable, SpecFile, defaults_of
from untilgreen.config.values import shown
from untilgreen.core.limits import Limits
from untilgreen.core.units import show_duration

DEFAULT = "default"
_SECONDS = ("time", "lap", "wait")


class Setting(Struct, frozen=True, kw_only=True):
    """One value; the key as it would be written behind `--set`."""

    key: str
    value: Any
    source: str


def settings(loaded: Loaded) -> list[Setting]:
    """What was written and what was not, in the order of the reference."""
    layers = loaded.layers
    found = [*_spec(layers, loaded.spec.task)]
    found += _table(layers, "limits", _limits())
    found += _table(layers, "integrity", defaults_of(IntegrityTable))
    for name in layers.values.get("gates", {}):
        found += _table(layers, ("gates", name), _gate_rules())
    return found


def _spec(layers: Layers, task: str) -> Iterator[Setting]:
    for key, default in defaults_of(SpecFile).items():
        if key in ("limits", "gates", "integrity"):
            continue
        if key in layers.values:
            yield from _written(layers, (key,))
        elif key == "task" and task and "task_file" not in layers.values:
            yield Setting(key=key, value=task, source="the command line")
        elif default is not None and not (key == "agents" and "agent" in layers.values):
            yield Setting(key=key, value=default, source=DEFAULT)


def _table(layers: Layers, where: str | tuple[str, ...], defaults: dict[str, Any]) -> Iterator[Setting]:
    path = (where,) if isinstance(where, str) else where
    table: Any = layers.values
    for part in path:
        table = table.get(part, {})
    for key in (*defaults, *(key for key in table if key not in defaults)):
        if key in table:
            yield from _written(layers, (*path, key))
        elif defaults[key] is not None:
            yield Setting(key=shown((*path, key)), value=defaults[key], source=DEFAULT)


def _written(layers: Layers, path: tuple[str, ...]) -> Iterator[Setting]:
    """A table is spelt out, since each of its values may come from elsewhere."""
    for key, value, source in layers.leaves():
        if key[: len(path)] == path:
            yield Setting(key=shown(key), value=value, source=source.place(key) if source else DEFAULT)


def _limits() -> dict[str, Any]:
    """As people write them."""
    values = {**defaults_of(Limits)}
    return values | {key: show_duration(values[key]) for key in _SECONDS}


def _gate_rules() -> dict[str, Any]:
    rules = {key: value for key, value in defaults_of(GateRules).items() if key not in ("kind", "use")}
    return rules | {"timeout": show_duration(GATE_TIMEOUT)}
