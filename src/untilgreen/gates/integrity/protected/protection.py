"""Which paths gates depend on, so that an agent may not weaken them."""

from __future__ import annotations

import os
import posixpath
import re
import shutil
import sys
from collections.abc import Collection, Iterable
from fnmatch import fnmatchcase, translate
from functools import cached_property
from typing import Literal

from msgspec import Struct, field

from untilgreen.gates.integrity.protected.patterns import CONFIGURATION, PLUGINS, RUNNER_MODULES, TESTS
from untilgreen.regex import regex

Role = Literal["test", "tool", "script", "fixed"]
"""A fixed file is one that `editable` does not list."""
_SPECIAL = frozenset("*?[/")
"""What makes a pattern more than a name."""


class Protection(Struct, frozen=True, kw_only=True):
    """What is protected, and what a person or the spec lets through."""

    protect: Collection[str] = ()
    """Patterns of the spec, in addition to those that always apply."""
    allow: Collection[str] = ()
    allowed: Collection[str] = ()
    """Paths that a person allowed to change."""
    editable: Collection[str] = ()
    """Patterns of the only files that an agent may change, if the spec has any."""
    scripts: Collection[str] = field(default_factory=frozenset)
    tests: Collection[str] = ()
    """Patterns of tests that the tools' configuration, their own output or links name."""
    files: Collection[str] = frozenset()
    """The files of the untouched tree."""
    plugins: Collection[str] = frozenset()
    """Installed modules that a test runner, a command or a test loads."""
    programs: Collection[str] = frozenset()
    """Directories of the tree in which a check looks for programs."""
    top: str = ""
    """The directory of the tree, to look for installed packages."""
    below: str = ""
    """Where gates run, relative to the tree's top; patterns are relative to it or to the top."""

    def role(self, path: str) -> Role | None:
        """What a path is for the gates; None if it is ordinary work."""
        if self.lets_through(path):
            return None
        if self.editable and not any(self._fits(path, pattern) for pattern in self.editable):
            return "fixed"
        if is_configuration(path) or (path not in self.files and self._shadows(path)):
            return "tool"
        if path in self.scripts:
            return "script"
        if _TEST(path) or any(matches(path, pattern) for pattern in self.tests):
            return "test"
        return "test" if any(self._fits(path, pattern) for pattern in self.protect) else None

    def lets_through(self, path: str) -> bool:
        """Whether the spec or a person accepts any change of this path."""
        if not self.allow and not self.allowed:
            return False
        return any(self._fits(path, pattern) for pattern in self.allow) or any(
            seen == name or seen.startswith(f"{name}/") or (set(name) & set("*?[") and matches(seen, name))
            for seen in self._seen(path)
            for name in (posixpath.normpath(each) for each in self.allowed)
        )

    def _fits(self, path: str, pattern: str) -> bool:
        return any(matches(seen, pattern) for seen in self._seen(path))

    def _seen(self, path: str) -> tuple[str, ...]:
        below = self.below
        return (path, path.removeprefix(below)) if below and path.startswith(below) else (path,)

    def _shadows(self, path: str) -> bool:
        """Whether a new file would be found in place of another: a module, stub, node package or program."""
        folder, name = posixpath.split(path)
        if name.endswith(".pyi"):
            return path[:-1] in self.files
        if "node_modules/" in path:
            return self._shadows_package(path)
        if folder in self.programs:
            return shutil.which(name) is not None
        if name == "__init__.py":
            folder, name = posixpath.split(folder)
        module = name.removesuffix(".py")
        if not path.endswith(".py") or not (_is_taken(module) or module in self.plugins):
            return False
        # A directory with an `__init__.py` is a package, whose modules shadow nothing.
        return f"{folder}/__init__.py" not in self.files or folder == ""

    def _shadows_package(self, path: str) -> bool:
        """Whether node found a package of this name further up until now."""
        above, _, rest = path.rpartition("node_modules/")
        parts = rest.split("/")
        name = "/".join(parts[:2] if rest.startswith("@") else parts[:1])
        folder = above.rstrip("/")
        while folder:
            folder = posixpath.dirname(folder)
            place = posixpath.join(folder, "node_modules", name)
            if any(each.startswith(f"{place}/") for each in self.files):
                return True
            if self.top and os.path.isdir(os.path.join(self.top, place)):  # noqa: PTH112, PTH118 - paths of git
                return True
        return False


def _is_taken(module: str) -> bool:
    return module in sys.stdlib_module_names or module in RUNNER_MODULES


def is_configuration(path: str) -> bool:
    """Whether a tool reads this file to know what to do, or loads it by itself."""
    return _TOOL(path) or _METADATA.search(path) is not None


def matches(path: str, pattern: str) -> bool:
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


class _AnyOf:
    """Like `matches`, for many patterns at once: a large tree has very many files, in few folders."""

    def __init__(self, patterns: Iterable[str]) -> None:
        self._patterns = tuple(patterns)
        self._names = frozenset(each for each in self._patterns if not _SPECIAL & {*each})
        self._known: dict[str, bool] = {}

    @cached_property
    def _name(self) -> re.Pattern[str]:
        names = (each for each in self._patterns if "/" not in each and each not in self._names)
        return re.compile("|".join(map(translate, names)))

    @cached_property
    def _folder(self) -> re.Pattern[str]:
        inside = (each[:-1] for each in self._patterns if each.endswith("/") and "/" not in each[:-1])
        return re.compile("|".join(map(translate, inside)))

    @cached_property
    def _path(self) -> re.Pattern[str]:
        whole = [each for each in self._patterns if "/" in each[:-1]]
        below = (re.escape(each.rstrip("/")) + "/" for each in whole)
        return re.compile("|".join([*map(translate, whole), *below]))

    def __call__(self, path: str) -> bool:
        folder, _, name = path.rpartition("/")
        if name in self._names or self._name.match(name):
            return True
        if folder not in self._known:
            self._known[folder] = any(map(self._folder.match, folder.split("/")))
        return self._known[folder] or self._path.match(path) is not None


_TOOL = _AnyOf((*CONFIGURATION, *PLUGINS))
_TEST = _AnyOf(TESTS)
_METADATA = regex(r"\.(?:dist|egg)-info/", re.IGNORECASE)
"""Python reads entry points there, whatever the case of the letters."""
