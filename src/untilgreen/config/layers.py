"""Values from several sources laid over each other, each remembering where it came from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from untilgreen.config.lines import line_of
from untilgreen.errors import ConfigError

_SHORT_FORMS = {"strategy": ("use", "hybrid"), "agent": ("use", None), "workspace": ("mode", "in-place")}
"""Keys that may be a plain word, the key it stands for, and the word they have when nothing is said."""


@dataclass(frozen=True)
class Source:
    """One place that values come from; a file can say on which line."""

    name: str
    path: Path | None = None
    text: str = ""
    prefix: tuple[str, ...] = ()
    """Where the spec begins in the file, such as `tool.untilgreen`."""

    def place(self, key: tuple[str, ...]) -> str:
        """The source as an error names it."""
        number = line_of(self.text, (*self.prefix, *key)) if self.text else None
        return f"{self.name}, line {number}" if number else self.name


@dataclass
class Layers:
    """The values that hold, and the source of each."""

    values: dict[str, Any] = field(default_factory=dict)
    sources: dict[tuple[str, ...], Source] = field(default_factory=dict)

    def add(self, values: Mapping[str, Any], source: Source) -> None:
        """Tables are merged, everything else is replaced by the later layer."""
        self._merge(self.values, values, source, ())

    def set(self, path: tuple[str, ...], value: Any, source: Source) -> None:
        """One value by its dotted key."""
        table = self.values
        for depth, part in enumerate(path[:-1], 1):
            inner = table.get(part)
            if depth == 1 and part in _SHORT_FORMS and not isinstance(inner, dict):
                key, word = _SHORT_FORMS[part]
                inner = table[part] = {key: inner or word} if inner or word else {}
            if inner is None:
                inner = table[part] = {}
            if not isinstance(inner, dict):
                raise ConfigError(
                    f"{'.'.join(path)}: {'.'.join(path[:depth])} is no table, so it has no keys."
                )
            table = inner
        if isinstance(value, Mapping) and isinstance(table.get(path[-1]), dict):
            self._merge(table[path[-1]], value, source, path)
            return
        self._forget(path)
        table[path[-1]] = value
        self._remember(path, value, source)

    def source(self, path: tuple[str, ...]) -> Source | None:
        """Who set this key, or the table around it."""
        while path:
            if path in self.sources:
                return self.sources[path]
            path = path[:-1]
        return None

    def error(self, path: tuple[str, ...], message: str) -> ConfigError:
        """An error that begins with the place of the key."""
        source = self.source(path)
        return ConfigError(f"{source.place(path)}: {message}" if source else message)

    def leaves(self) -> Iterator[tuple[tuple[str, ...], Any, Source | None]]:
        """Every value that is no table, with its key and its source."""
        yield from self._leaves(self.values, ())

    def _leaves(
        self, table: Mapping[str, Any], path: tuple[str, ...]
    ) -> Iterator[tuple[tuple[str, ...], Any, Source | None]]:
        for key, value in table.items():
            if isinstance(value, dict) and value:
                yield from self._leaves(value, (*path, key))
            else:
                yield (*path, key), value, self.source((*path, key))

    def _merge(
        self, table: dict[str, Any], values: Mapping[str, Any], source: Source, path: tuple[str, ...]
    ) -> None:
        for key, value in values.items():
            here = (*path, key)
            if isinstance(value, Mapping) and isinstance(table.get(key), dict):
                self._merge(table[key], value, source, here)
                continue
            self._forget(here)
            table[key] = _copied(value)
            self._remember(here, value, source)

    def _remember(self, path: tuple[str, ...], value: Any, source: Source) -> None:
        self.sources[path] = source
        if isinstance(value, Mapping):
            for key, inner in value.items():
                self._remember((*path, key), inner, source)

    def _forget(self, path: tuple[str, ...]) -> None:
        for known in [known for known in self.sources if known[: len(path)] == path]:
            del self.sources[known]


def _copied(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _copied(inner) for key, inner in value.items()}
    return list(value) if isinstance(value, list | tuple) else value
