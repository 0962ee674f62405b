"""What the streams of all agents have in common: one JSON object a line, of shapes that change with versions.

Every value is fetched by itself, and one that is missing or of another type is simply not there: a newer
agent must never break a run. The raw lines are in the turn's transcript, known or not.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

_DECODER = msgspec.json.Decoder()


class Said:
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

    def text(self, *path: str) -> str:
        """The text there; empty where there is none."""
        value = self._at(path)
        return value if isinstance(value, str) else ""

    def number(self, *path: str) -> float | None:
        """The number there."""
        value = self._at(path)
        return value if isinstance(value, int | float) and not isinstance(value, bool) else None

    def count(self, *path: str) -> int:
        """The whole number there, 0 where there is none."""
        return max(0, int(self.number(*path) or 0))

    def flag(self, *path: str) -> bool | None:
        """Whether it is so, where that is said."""
        value = self._at(path)
        return value if isinstance(value, bool) else None

    def part(self, *path: str) -> Said:
        """The object there; an empty one where there is none."""
        return Said(self._at(path))

    def parts(self, *path: str) -> list[Said]:
        """The objects of the list there."""
        value = self._at(path)
        return [Said(each) for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []

    def texts(self, *path: str) -> list[str]:
        """The texts of the list there."""
        value = self._at(path)
        return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []

    def values(self) -> list[Said]:
        """The objects that it has as values, whatever their names."""
        return [Said(each) for each in self._value.values() if isinstance(each, Mapping)]


def read(line: str) -> Said | None:
    """The object on this line; None where the line is something else, as banners and warnings are."""
    if not line.lstrip().startswith("{"):
        return None
    try:
        value = _DECODER.decode(line)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return None
    return Said(value) if isinstance(value, dict) else None
