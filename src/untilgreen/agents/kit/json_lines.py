"""Reads one JSON object per line, tolerating missing or unexpected values.

The format changes between versions of an agent, and a newer agent must never break a run: a value that is
missing or has another type counts as absent. All raw lines are in the turn's transcript.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

_DECODER = msgspec.json.Decoder()


class JsonObject:
    """One object of a stream, or a part of one."""

    __slots__ = ("_value",)

    def __init__(self, value: Any) -> None:
        self._value: Mapping[str, Any] = value if isinstance(value, Mapping) else {}

    def __bool__(self) -> bool:
        return bool(self._value)

    def _at(self, path: tuple[str, ...]) -> Any:
        value: Any = self._value
        for key in path:
            if not isinstance(value, Mapping):
                return None
            value = value.get(key)
        return value

    def has(self, *path: str) -> bool:
        """Whether there is a value."""
        return self._at(path) is not None

    def raw(self, *path: str) -> Any:
        """The value as it is, to be sent back unchanged."""
        return self._at(path)

    def text(self, *path: str) -> str:
        """The text there; empty if there is none."""
        value = self._at(path)
        return value if isinstance(value, str) else ""

    def number(self, *path: str) -> float | None:
        """The number there."""
        value = self._at(path)
        return value if isinstance(value, int | float) and not isinstance(value, bool) else None

    def count(self, *path: str) -> int:
        """The whole number there; 0 if there is none."""
        return max(0, int(self.number(*path) or 0))

    def flag(self, *path: str) -> bool | None:
        """The boolean there; None if there is none."""
        value = self._at(path)
        return value if isinstance(value, bool) else None

    def part(self, *path: str) -> JsonObject:
        """The object there; an empty one if there is none."""
        return JsonObject(self._at(path))

    def parts(self, *path: str) -> list[JsonObject]:
        """The objects of the list there."""
        value = self._at(path)
        return (
            [JsonObject(each) for each in value if isinstance(each, Mapping)]
            if isinstance(value, list)
            else []
        )

    def texts(self, *path: str) -> list[str]:
        """The texts of the list there."""
        value = self._at(path)
        return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []

    def values(self) -> list[JsonObject]:
        """All values that are objects, whatever their keys."""
        return [JsonObject(each) for each in self._value.values() if isinstance(each, Mapping)]


def read(line: str) -> JsonObject | None:
    """The object on this line; None for other lines, such as banners and warnings."""
    if not line.lstrip().startswith("{"):
        return None
    try:
        value = _DECODER.decode(line)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return None
    return JsonObject(value) if isinstance(value, dict) else None
