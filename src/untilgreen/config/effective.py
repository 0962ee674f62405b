"""Every setting with its value and where it came from; what `config show` prints."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from untilgreen.config.checks.types import key_as_text
from untilgreen.config.load import FLAGS, Loaded
from untilgreen.config.sources.layers import Layers
from untilgreen.config.spec.schema import TABLES, GateRules, SpecFile, defaults_of
from untilgreen.core.values.option_checks import DURATION, kinds_of, unit_of
from untilgreen.core.values.units import show_duration

DEFAULT = "default"


class Setting(Struct, frozen=True, kw_only=True):
    """One value, with its key as `--set` takes it."""

    key: str
    value: Any
    source: str


def settings(loaded: Loaded) -> list[Setting]:
    """All settings, set or not, in the order of the reference."""
    layers = loaded.layers
    found = [*_spec(layers, loaded.spec.task)]
    for name in ("limits", "integrity", "clean_room"):
        found += _table(layers, name, _defaults(TABLES[name]))
    for name in layers.values.get("gates", {}):
        found += _table(layers, ("gates", name), _defaults(GateRules))
    return found


def _spec(layers: Layers, task: str) -> Iterator[Setting]:
    for key, default in defaults_of(SpecFile).items():
        if key in ("limits", "gates", "integrity", "clean_room"):
            continue
        if key in layers.values:
            yield from _written(layers, (key,))
        elif key == "task" and task and "task_file" not in layers.values:
            yield Setting(key=key, value=task, source=FLAGS.name)
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
            yield Setting(key=key_as_text((*path, key)), value=defaults[key], source=DEFAULT)


def _written(layers: Layers, path: tuple[str, ...]) -> Iterator[Setting]:
    """A table is listed key by key, since each value may have a different source."""
    for key, value, source in layers.leaves():
        if key[: len(path)] == path:
            yield Setting(key=key_as_text(key), value=value, source=source.place(key) if source else DEFAULT)


def _defaults(table: type[Struct]) -> dict[str, Any]:
    """Defaults as people write them."""
    kinds = kinds_of(table)
    return {
        key: show_duration(value) if unit_of(kinds[key]) == DURATION and isinstance(value, float) else value
        for key, value in defaults_of(table).items()
    }
