"""Tests inside the code they test, as in Rust: the module is protected, not the file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from untilgreen.gates.integrity.protected.mixed_files import Swap
from untilgreen.regex import regex

_MODULE = regex(
    r"#\[cfg\((?:[a-z]+\()?[^\]\n]{0,80}?\btest\b[^\]\n]{0,80}\]\s*(?:#\[[^\]\n]{0,200}\]\s*)*"
    r"(?:pub(?:\([^)\n]{0,40}\))?\s+)?mod\s+(\w+)\s*\{"
)
_TOKEN = regex(
    r"//[^\n]*|/\*(?:[^*]|\*(?!/))*\*/|b?\"(?:[^\"\\]|\\.)*\"|b?r(#*)\".*?\"\1|b?'(?:[^'\\\n]|\\[^\n]{1,10}?)'|[{}]",
    re.DOTALL,
)


class Module(NamedTuple):
    """A module of tests, and where it is."""

    name: str
    start: int
    end: int


def has_tests_inside(path: str) -> bool:
    """Whether files of this kind may hold their own tests."""
    return path.endswith(".rs")


def swap_inline(original: bytes | None, current: bytes | None) -> Swap | None:
    """The file as it is now with the test modules as they were; None if none was changed."""
    if original is None or current is None:
        return None
    old, new = original.decode(errors="surrogateescape"), current.decode(errors="surrogateescape")
    now = {module.name: new[module.start : module.end] for module in modules(new)}
    before = {module.name: old[module.start : module.end] for module in modules(old)}
    changed = {name: text for name, text in before.items() if now.get(name) != text}
    if not changed:
        return None
    for module in sorted(modules(new), key=lambda each: each.start, reverse=True):
        if module.name in changed:
            new = new[: module.start] + changed[module.name] + new[module.end :]
    gone = [text for name, text in changed.items() if name not in now]
    content = "\n".join([new, *gone]) + ("\n" if gone else "")
    return Swap(tuple(f"mod {name}" for name in changed), content.encode(errors="surrogateescape"))


def modules(text: str) -> Iterator[Module]:
    """Each module of tests from its attribute to its closing brace; one that never closes does not count."""
    place = 0
    while (head := _MODULE.search(text, place)) is not None:
        end = _closing(text, head.end())
        if end is None:
            return
        yield Module(head[1], head.start(), end)
        place = end


def _closing(text: str, start: int) -> int | None:
    depth = 1
    for token in _TOKEN.finditer(text, start):
        if token[0] == "{":
            depth += 1
        elif token[0] == "}":
            depth -= 1
            if depth == 0:
                return token.end()
    return None
