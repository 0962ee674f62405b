"""Values from several sources merged in order; each remembers where it came from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from untilgreen.config.sources.toml_lines import Key, line_of
from untilgreen.config.spec.schema import MODES
from untilgreen.errors import ConfigError

_WORDS = {"strategy": "use", "agent": "use", **dict.fromkeys(MODES, "mode")}
"""Keys that may be one word, and the key of their table that the word stands for."""
_INSTEAD_OF = {"agent": "agents", "agents": "agent", "task": "task_file", "task_file": "task"}
"""Two keys for one thing: a later layer that has one drops the other."""


class Source(Struct, frozen=True):
    """One source of values; a file knows the line of each key."""

    name: str
    path: Path | None = None
    text: str = ""
    prefix: tuple[str, ...] = ()
    """The table of the file that has the spec, such as `tool.untilgreen`."""

    def place(self, key: Key) -> str:
        """The source as an error names it."""
        number = self.line(key)
        return f"{self.name}, line {number}" if number else self.name

    def line(self, key: Key) -> int:
        """The line of a file that has the key; 0 if none is known."""
        return (line_of(self.text, (*self.prefix, *key)) or 0) if self.text else 0


class Layers(Struct):
    """The merged values, and the source of each."""

    values: dict[str, Any] = field(default_factory=dict)
    sources: dict[Key, Source] = field(default_factory=dict)

    def add(self, values: Mapping[str, Any], source: Source) -> None:
        """Merge tables; everything else is replaced by the later layer.

        A table that names a strategy, an agent or the kind of a gate replaces the earlier one, because the
        options of one mean nothing to another. A table with only options adds them.
        """
        for key, value in values.items():
            other = _INSTEAD_OF.get(key)
            if other in self.values and other not in values:
                self._make_way(key, value, other)
            self._lay(self.values, (key,), value, source)

    def set(self, path: tuple[str, ...], value: Any, source: Source) -> None:
        """Set one value by its dotted key."""
        for name in reversed(path):
            value = {name: value}
        self.add(value, source)

    def source(self, path: Key) -> Source | None:
        """The source that set this key, or the table around it."""
        while path:
            if path in self.sources:
                return self.sources[path]
            path = path[:-1]
        return None

    def error(self, path: Key, message: str) -> ConfigError:
        """An error that starts with the place of the key."""
        source = self.source(path)
        if source is None:
            return ConfigError(message, key=path)
        return ConfigError(f"{source.place(path)}: {message}", key=path, line=source.line(path))

    def without(self, path: Key) -> Layers:
        """A copy without one key."""
        rest = Layers(_copied(self.values), dict(self.sources))
        table: Any = rest.values
        for part in path[:-1]:
            table = table[part]
        del table[path[-1]]
        return rest

    def leaves(self) -> Iterator[tuple[tuple[str, ...], Any, Source | None]]:
        """Every value except tables, with its key and its source."""
        yield from self._leaves(self.values, ())

    def _leaves(
        self, table: Mapping[str, Any], path: tuple[str, ...]
    ) -> Iterator[tuple[tuple[str, ...], Any, Source | None]]:
        for key, value in table.items():
            if isinstance(value, dict) and value:
                yield from self._leaves(value, (*path, key))
            else:
                yield (*path, key), value, self.source((*path, key))

    def _make_way(self, key: str, value: Any, other: str) -> None:
        if key == "agent" and isinstance(value, Mapping) and not _names(("agent",), value):
            self._single_out_the_agent()
        else:
            del self.values[other]
            self._forget((other,))

    def _single_out_the_agent(self) -> None:
        """Options of `agent` belong to the only entry of `agents`; with several it would be unclear which."""
        listed = self.values["agents"]
        if isinstance(listed, list) and len(listed) == 1:
            source = self.sources[("agents",)]
            del self.values["agents"]
            self._forget(("agents",))
            self._put(self.values, ("agent",), listed[0], source)

    def _lay(self, table: dict[str, Any], path: tuple[str, ...], value: Any, source: Source) -> None:
        if isinstance(value, Mapping) and (not _names(path, value) or _same_mode(table, path, value)):
            self._spell_out(table, path)
            below = table.get(path[-1])
            if isinstance(below, dict):
                for key, inner in value.items():
                    self._lay(below, (*path, key), inner, source)
                return
        self._put(table, path, value, source)

    def _spell_out(self, table: dict[str, Any], path: tuple[str, ...]) -> None:
        """A single word becomes a table, so that options can be added."""
        word = table.get(path[-1])
        if len(path) == 1 and path[0] in _WORDS and isinstance(word, str):
            self._put(table, path, {_WORDS[path[0]]: word}, self.sources[path])

    def _put(self, table: dict[str, Any], path: tuple[str, ...], value: Any, source: Source) -> None:
        self._forget(path)
        table[path[-1]] = _copied(value)
        self._remember(path, value, source)

    def _remember(self, path: Key, value: Any, source: Source) -> None:
        self.sources[path] = source
        if isinstance(value, Mapping):
            for key, inner in value.items():
                self._remember((*path, key), inner, source)

    def _forget(self, path: Key) -> None:
        for known in [known for known in self.sources if known[: len(path)] == path]:
            del self.sources[known]


def _names(path: tuple[str, ...], table: Mapping[str, Any]) -> bool:
    """Whether the table names a strategy, agent or gate, and not only options."""
    match path:
        case (key,) if key in _WORDS:
            return _WORDS[key] in table
        case ("gates", _):
            return "use" in table or "kind" in table
        case _:
            return False


def _same_mode(table: Mapping[str, Any], path: tuple[str, ...], value: Mapping[str, Any]) -> bool:
    """Whether the mode of the workspace or the sandbox is only repeated; then its options stay."""
    below = table.get(path[-1])
    if path not in (("workspace",), ("sandbox",)):
        return False
    mode = below.get("mode", value["mode"]) if isinstance(below, Mapping) else below
    return bool(mode == value["mode"])


def _copied(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _copied(inner) for key, inner in value.items()}
    return [_copied(inner) for inner in value] if isinstance(value, list | tuple) else value
