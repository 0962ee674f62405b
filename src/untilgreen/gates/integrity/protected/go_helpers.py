"""Go packages that only tests import: they decide what a test asserts, and no name gives them away."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from untilgreen.regex import regex

IMPORTS = r'^[[:space:]]*(import[[:space:]]+)?([A-Za-z_.][A-Za-z0-9_]*[[:space:]]+)?"[^"[:space:]]+"'
"""What `git grep` looks for: imports, and lines with only a string, which need not name a package."""
_MODULE = regex(r"^module[ \t]+\"?([^\s\"]+)", re.MULTILINE)
_PATH = regex(r"\"([^\"\s]{1,300})\"")


def helpers_of_tests(
    files: Collection[str], modules: Mapping[str, str], imports: Mapping[str, Sequence[str]]
) -> set[str]:
    """Patterns of packages that tests import and the product does not.

    `modules` are the texts of go.mod files, and `imports` the lines of Go files that may import something.
    """
    packages = dict(_packages(files, modules))
    by_tests, by_others = set[str](), set[str]()
    for path, lines in imports.items():
        named = {name for line in lines for name in _PATH.findall(line)}
        found = {packages[name] for name in named if name in packages} - {posixpath.dirname(path)}
        (by_tests if path.endswith("_test.go") else by_others).update(found)
    return {f"{folder}/*.go" for folder in by_tests - by_others}


def _packages(files: Collection[str], modules: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Every package below a module by the path that imports it."""
    folders = {posixpath.dirname(path) for path in files if path.endswith(".go")}
    for path, text in modules.items():
        root = posixpath.dirname(path)
        inner = [each for each in folders if each != root and (not root or each.startswith(f"{root}/"))]
        for name in _MODULE.findall(text)[:1]:
            yield from ((f"{name}/{posixpath.relpath(folder, root or '.')}", folder) for folder in inner)
            if root:  # a module of its own beside the product, as `replace` names it
                yield name, root
