"""Examples in docstrings, which doctest runs: the docstring is put back, not the file."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

from untilgreen.gates.integrity.protected.mixed_files import Swap
from untilgreen.regex import regex

PROMPT = ">>>"
_LINE_END = regex(rb"\r\n|\r|\n")
_Owner: TypeAlias = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


class Docstring(NamedTuple):
    """A docstring with examples, and where it is in the file's bytes."""

    source: bytes
    start: int
    end: int


def may_have_examples(path: str) -> bool:
    """Whether doctest reads files of this kind."""
    return path.endswith(".py")


def is_example(path: str, text: str, test: str) -> bool:
    """Whether a failed test, by its id, is an example in the docstring of something in this file."""
    if not may_have_examples(path) or PROMPT not in text:
        return False
    dotted = test.rpartition("::")[2].split(" ")[0].split(".")
    module = path.removesuffix(".py").split("/")
    found = docstrings(text.encode(errors="surrogateescape")) or {}
    return any(
        ".".join(dotted[length:]) in found
        for length in range(1, len(dotted) + 1)
        if module[-length:] == dotted[:length]
    )


def swap_docstrings(original: bytes | None, current: bytes | None) -> Swap | None:
    """The file as it is now with its examples as they were; None if none was changed."""
    if original is None or current is None:
        return None
    before, now = docstrings(original) or {}, docstrings(current) or {}
    changed = {
        name: each for name, each in before.items() if name not in now or now[name].source != each.source
    }
    if not changed:
        return None
    keys = tuple(f"the examples of {name or 'the module'}" for name in changed)
    if changed.keys() - now.keys():  # what they document is gone, or their file is not Python any more
        return Swap(keys, None)
    content = current
    for name in sorted(changed, key=lambda each: now[each].start, reverse=True):
        content = content[: now[name].start] + changed[name].source + content[now[name].end :]
    return Swap(keys, content)


def docstrings(content: bytes) -> dict[str, Docstring] | None:
    """Each docstring with examples by the dotted name of what it documents; None if this is not Python."""
    try:
        tree = ast.parse(content)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    starts = [0, *(end.end() for end in _LINE_END.finditer(content))]
    found: dict[str, Docstring] = {}
    for name, node in _documented(tree, ""):
        start = starts[node.lineno - 1] + node.col_offset
        end = starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)
        found.setdefault(name, Docstring(content[start:end], start, end))
    return found


def _documented(owner: _Owner, name: str) -> Iterator[tuple[str, ast.expr]]:
    first = owner.body[0] if owner.body else None
    if (
        isinstance(first, ast.Expr)
        and isinstance(first.value, ast.Constant)
        and isinstance(first.value.value, str)
        and PROMPT in first.value.value
    ):
        yield name, first.value
    for node in owner.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _documented(node, f"{name}.{node.name}".lstrip("."))
