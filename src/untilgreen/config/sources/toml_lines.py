"""Find the line of a key in a TOML file, so that an error can point at it.

The standard library's parser reports lines only for invalid TOML, so we walk valid TOML once more.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from untilgreen.regex import regex

Key = tuple[str | int, ...]
"""The path to a value: names of tables and keys, and positions in lists, counted from 0."""

PART = r"""(?:"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|[A-Za-z0-9_-]+)"""
"""One part of a dotted key, as a regular expression."""
_TOKEN = regex(
    r'(?P<string>"""(?:[^\\]|\\.)*?"{3,5}|' + r"'''.*?'{3,5}" + r'|"(?:[^"\\\n]|\\.)*"|' + r"'[^'\n]*')"
    r"|(?P<comment>\#[^\n]*)"
    r"|(?P<newline>\n)"
    r"|(?P<mark>[\[\]{}=,.])"
    r"|(?P<bare>[^\s\[\]{}=,.\"'\#]+)",
    re.DOTALL,
)
_BETWEEN = ("\n", ",")


class _Token(NamedTuple):
    kind: str
    text: str
    line: int


_END = _Token("end", "", 0)


def line_of(text: str, path: Key) -> int | None:
    """The line of a key, or else of the nearest table or list around it."""
    found = _Walk(text).lines()
    while path and path not in found:
        path = path[:-1]
    return found.get(path)


def _tokens(text: str) -> Iterator[_Token]:
    line, seen = 1, 0
    for match in _TOKEN.finditer(text):
        line, seen = line + text.count("\n", seen, match.start()), match.start()
        if match.lastgroup != "comment":
            yield _Token(match.lastgroup or "", match[0], line)


class _Walk:
    """One walk over a document that notes the line of every key."""

    def __init__(self, text: str) -> None:
        self._left = list(_tokens(text))[::-1]
        self._found: dict[Key, int] = {}
        self._tables: dict[Key, int] = {}
        """How many tables each `[[list]]` has so far."""

    def lines(self) -> dict[Key, int]:
        table: Key = ()
        while self._left:
            if self._skip("\n"):
                continue
            table = self._header() if self._next().text == "[" else self._pair(table)
        return self._found

    def _next(self) -> _Token:
        return self._left[-1] if self._left else _END

    def _skip(self, *marks: str) -> bool:
        if self._next().kind in ("mark", "newline") and self._next().text in marks:
            self._left.pop()
            return True
        return False

    def _note(self, path: Key, line: int) -> None:
        for depth in range(1, len(path) + 1):
            self._found.setdefault(path[:depth], line)

    def _header(self) -> Key:
        """`[table]`, or `[[list]]` for one more table of a list."""
        line = self._left.pop().line
        one_more = self._skip("[")
        path: Key = ()
        names = self._key()
        for depth, name in enumerate(names, 1):
            path = (*path, name)
            if one_more and depth == len(names):
                self._tables[path] = self._tables.get(path, 0) + 1
            if path in self._tables:
                path = (*path, self._tables[path] - 1)
        while self._skip("]"):
            pass
        self._note(path, line)
        return path

    def _pair(self, table: Key) -> Key:
        """`key = value`; returns the table, which continues after it."""
        line, names = self._next().line, self._key()
        if not names and self._left:
            self._left.pop()
        path = (*table, *names)
        self._note(path, line)
        if self._skip("="):
            self._value(path)
        return table

    def _key(self) -> tuple[str, ...]:
        names = []
        while self._next().kind in ("string", "bare"):
            token = self._left.pop()
            names.append(_unquoted(token.text) if token.kind == "string" else token.text)
            if not self._skip("."):
                break
        return tuple(names)

    def _value(self, path: Key) -> None:
        if self._skip("{"):
            while self._inside("}"):
                self._pair(path)
        elif self._skip("["):
            place = 0
            while self._inside("]"):
                self._note((*path, place), self._next().line)
                self._value((*path, place))
                place += 1
        elif self._left:
            self._left.pop()
            while self._left and self._next().text not in (*_BETWEEN, "]", "}"):
                self._left.pop()

    def _inside(self, end: str) -> bool:
        """Whether more comes before the end of a list or a table."""
        while self._skip(*_BETWEEN):
            pass
        return not self._skip(end) and bool(self._left)


def _unquoted(text: str) -> str:
    import tomllib  # noqa: PLC0415 - only a file with an error is read so closely

    try:
        return str(tomllib.loads(f"key = {text}")["key"])
    except tomllib.TOMLDecodeError:
        return text
