"""Which paths gates depend on, so that an agent may not weaken them."""

from __future__ import annotations

import posixpath
import re
import sys
from collections.abc import Collection
from dataclasses import dataclass, field
from fnmatch import fnmatchcase, translate
from functools import cache
from typing import Literal

from untilgreen.gates.integrity.names import CONFIGURATION, PLUGINS, TESTS

Role = Literal["test", "tool", "script"]


@dataclass(frozen=True, kw_only=True)
class Protection:
    """What is protected, and what a person or the spec lets through."""

    protect: Collection[str] = ()
    """Patterns of the spec, beside those that always hold."""
    allow: Collection[str] = ()
    allowed: Collection[str] = ()
    """Paths that a person named."""
    scripts: Collection[str] = field(default_factory=frozenset)
    below: str = ""
    """The directory that gates run in, seen from the tree's top; patterns mean it, or the top."""

    def role(self, path: str) -> Role | None:
        """What a path is for the gates; None where it is just work."""
        if self.lets_through(path):
            return None
        if is_configuration(path) or self._shadows(path):
            return "tool"
        if path in self.scripts:
            return "script"
        if _fits_any(TESTS, path):
            return "test"
        return "test" if any(self._fits(path, pattern) for pattern in self.protect) else None

    def lets_through(self, path: str) -> bool:
        """Whether the spec or a person accepts any change of this path."""
        return any(self._fits(path, pattern) for pattern in self.allow) or any(
            seen == name or seen.startswith(f"{name}/") or (set(name) & set("*?[") and fits(seen, name))
            for seen in self._seen(path)
            for name in (posixpath.normpath(each) for each in self.allowed)
        )

    def _fits(self, path: str, pattern: str) -> bool:
        return any(fits(seen, pattern) for seen in self._seen(path))

    def _seen(self, path: str) -> tuple[str, ...]:
        below = self.below
        return (path, path.removeprefix(below)) if below and path.startswith(below) else (path,)

    def _shadows(self, path: str) -> bool:
        """A file beside the tests' start that Python would import in place of a module of its own."""
        for seen in self._seen(path):
            first = seen.partition("/")[0]
            if first.removesuffix(".py") in sys.stdlib_module_names and seen in (
                f"{first.removesuffix('.py')}.py",
                f"{first}/__init__.py",
            ):
                return True
        return False


def is_configuration(path: str) -> bool:
    """Whether a tool reads this file to know what to do, or loads it by itself."""
    return _fits_any((*CONFIGURATION, *PLUGINS), path)


def _fits_any(patterns: tuple[str, ...], path: str) -> bool:
    """The same as `fits` for many patterns at once: a large tree has more files than anybody waits for."""
    names, inside, paths = _sorted_out(patterns)
    *folders, name = path.split("/")
    return (
        names.match(name) is not None
        or any(map(inside.match, folders))
        or any(fits(path, pattern) for pattern in paths)
    )


@cache
def _sorted_out(patterns: tuple[str, ...]) -> tuple[re.Pattern[str], re.Pattern[str], list[str]]:
    """Those for names, those for directories, and the rest."""
    names = [pattern for pattern in patterns if "/" not in pattern]
    folders = [pattern[:-1] for pattern in patterns if pattern.endswith("/") and "/" not in pattern[:-1]]
    rest = [pattern for pattern in patterns if "/" in pattern[:-1]]
    return re.compile("|".join(map(translate, names))), re.compile("|".join(map(translate, folders))), rest


def fits(path: str, pattern: str) -> bool:
    """`tests/` is a directory anywhere, `*.spec.*` a name anywhere, `a/b*` a path from the top."""
    pattern = pattern.removeprefix("./").removeprefix("/")
    *folders, name = path.split("/")
    if pattern.endswith("/") and "/" not in pattern[:-1]:
        return any(fnmatchcase(folder, pattern[:-1]) for folder in folders)
    if "/" in pattern:
        return fnmatchcase(path, f"{pattern}*" if pattern.endswith("/") else pattern) or path.startswith(
            f"{pattern.rstrip('/')}/"
        )
    return fnmatchcase(name, pattern)
