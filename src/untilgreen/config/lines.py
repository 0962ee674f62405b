"""Finding the line of a key in a TOML file, so that an error can point at it."""

from __future__ import annotations

import re
from collections.abc import Sequence

_HEADER = re.compile(r"\s*\[\[?\s*(?P<name>[^\[\]]+?)\s*\]\]?\s*(?:#.*)?")
_PART = re.compile(r"""\s*(?:"([^"]*)"|'([^']*)'|([^."'\s]+))\s*(?:\.|$)""")


def line_of(text: str, path: Sequence[str]) -> int | None:
    """The line on which a key stands, or the nearest table around it."""
    table: tuple[str, ...] = ()
    found: dict[tuple[str, ...], int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        header = _HEADER.fullmatch(line)
        if header:
            table = _split(header["name"])
            _note(found, table, number)
        elif "=" in line and not line.lstrip().startswith("#"):
            _note(found, (*table, *_split(line.partition("=")[0])), number)
    wanted = tuple(path)
    while wanted and wanted not in found:
        wanted = wanted[:-1]
    return found.get(wanted)


def _note(found: dict[tuple[str, ...], int], path: tuple[str, ...], number: int) -> None:
    for depth in range(1, len(path) + 1):
        found.setdefault(path[:depth], number)


def _split(dotted: str) -> tuple[str, ...]:
    return tuple(
        next(part for part in match.groups() if part is not None) for match in _PART.finditer(dotted)
    )
