"""Which paths gates depend on, so that an agent may not weaken them."""

from __future__ import annotations

import posixpath
import sys
from collections.abc import Collection
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
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
        if any(fits(path, pattern) for pattern in (*CONFIGURATION, *PLUGINS)) or self._shadows(path):
            return "tool"
        if path in self.scripts:
            return "script"
        if any(fits(path, pattern) for pattern in TESTS):
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
