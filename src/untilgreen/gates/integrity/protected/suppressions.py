"""Comments in product files that suppress findings of a linter, a type checker or a coverage tool.

New ones are removed from the copy that gates run in again: a gate that is green only with them is not green.
"""

from __future__ import annotations

import posixpath

from untilgreen.gates.integrity.protected.mixed_files import Swap
from untilgreen.regex import regex

_HASH = regex(
    r"#\s{0,4}(?:(?:ruff|flake8):\s{0,4})?(?:noqa\b|(?:type|pyright|ty):\s{0,4}ignore\b|mypy:\s{0,4}ignore-errors\b|"
    r"pylint:\s{0,4}(?:disable|skip-file)\b|pragma:\s{0,4}no\s?cover\b|nosec\b|rubocop:disable\b|:nocov:).*$"
)
_SLASHES = regex(
    r"//\s{0,4}(?:@ts-(?:ignore|expect-error|nocheck)\b|eslint-disable|biome-ignore\b|oxlint-disable|nolint\b|"
    r"NOLINT|(?:istanbul|c8|v8) ignore\b|phpcs:ignore\b|@phpstan-ignore).*$"
)
_BLOCK = regex(
    r"/\*\s{0,4}(?:@ts-(?:ignore|expect-error|nocheck)\b|eslint-disable|oxlint-disable|"
    r"(?:istanbul|c8|v8) ignore\b)[^*]{0,300}\*/"
)
_MARKS = {
    **dict.fromkeys((".py", ".pyi", ".rb", ".sh"), (_HASH,)),
    **dict.fromkeys(
        (".js", ".cjs", ".mjs", ".jsx", ".ts", ".cts", ".mts", ".tsx", ".vue"), (_SLASHES, _BLOCK)
    ),
    **dict.fromkeys((".go", ".c", ".h", ".cc", ".cpp", ".hpp", ".php"), (_SLASHES,)),
}


def may_suppress(path: str) -> bool:
    """Whether such comments are known for files of this name."""
    return posixpath.splitext(path)[1] in _MARKS


def swap_suppressions(path: str, original: bytes | None, current: bytes | None) -> Swap | None:
    """The file as it is now without such comments that are new; None if there are none."""
    if current is None:
        return None
    before = set((original or b"").decode(errors="surrogateescape").splitlines())
    found: list[str] = []
    lines = []
    for line in current.decode(errors="surrogateescape").splitlines(keepends=True):
        text = line.rstrip("\r\n")
        bare = text
        for mark in _MARKS[posixpath.splitext(path)[1]] if text not in before else ():
            found += [match[0].strip()[:80] for match in mark.finditer(bare)]
            bare = mark.sub("", bare)
        lines.append(line if bare == text else f"{bare.rstrip()}{line[len(text) :]}")
    if not found:
        return None
    content = "".join(lines).encode(errors="surrogateescape")
    return Swap(tuple(dict.fromkeys(found)), content, only_new=original is None)
