"""Modules that are installed where gates run: pytest's plugins, and what commands and tests import."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from untilgreen.regex import regex

_SECTION = regex(r"^\[pytest11\][ \t]*\n((?:[ \t]*(?!\[)[^\n]*(?:\n|$))*)", re.MULTILINE)
_MODULE = regex(r"=[ \t]*([A-Za-z_]\w*)")
_PROGRAM = regex(r"/[^\s;&|\"'()]+")
_LARGEST = 100_000
_RUN = regex(r"(?:^|\s)-m[ \t]*([A-Za-z_]\w*)")
_IMPORT = regex(r"^[ \t]*(?:from|import)[ \t]+([A-Za-z_][^#\n]*)")
_TOP_LEVEL = regex(r"(?:^|,)[ \t]*([A-Za-z_]\w*)")
IMPORTS = r"^[[:space:]]*(from|import)[[:space:]]+[A-Za-z_]"
"""What `git grep` looks for in Python files."""
_MODULES = (".py", ".so")
_USUAL = ("python", "python3", "pytest", "tox", "nox")


def modules_of_plugins(commands: Iterable[str]) -> frozenset[str]:
    """Top-level modules of pytest's plugins, in the environments of the programs that commands start."""
    found: set[str] = set()
    for folder in dict.fromkeys(_libraries(commands)):
        for file in folder.glob("*.dist-info/entry_points.txt"):
            try:
                text = file.read_text(encoding="utf-8", errors="replace")[:_LARGEST]
            except OSError:
                continue
            found |= {name for section in _SECTION.findall(text) for name in _MODULE.findall(section)}
    return frozenset(found)


def installed_among(commands: Iterable[str], top: str, names: Collection[str]) -> frozenset[str]:
    """The modules among `names` that are installed in the same environments or in the tree's own."""
    if not names:
        return frozenset()
    folders = dict.fromkeys([*_libraries(commands), *Path(top).glob(".?*/lib/python3*/site-packages")])
    return frozenset(name for name in names if any(_has(folder, name) for folder in folders))


def _has(folder: Path, name: str) -> bool:
    alone = any(each.suffix in _MODULES for each in folder.glob(f"{name}.*"))
    return alone or (folder / name / "__init__.py").exists()


def modules_run_by(commands: Iterable[str]) -> frozenset[str]:
    """Modules that a command runs with `-m`."""
    return frozenset(name for command in commands for name in _RUN.findall(command))


def modules_imported(lines: Iterable[str]) -> frozenset[str]:
    """Top-level modules that lines of Python import."""
    words = (found[1].split(" import ")[0] for line in lines if (found := _IMPORT.match(line)))
    return frozenset(name for each in words for name in _TOP_LEVEL.findall(each))


def module_of(path: str) -> str:
    """The name under which a file can be imported from the directory around it."""
    folder, name = os.path.split(path)
    return os.path.basename(folder) if name == "__init__.py" else name.removesuffix(".py")  # noqa: PTH119 - a path of git


def names_of(path: str) -> tuple[str, str]:
    """The module of a file, and the package that it may be in."""
    return module_of(path), os.path.basename(os.path.dirname(path))  # noqa: PTH119, PTH120 - a path of git


def _libraries(commands: Iterable[str]) -> Iterator[Path]:
    programs = [Path(name) for command in commands for name in _PROGRAM.findall(command)]
    programs += [Path(path) for name in _USUAL if (path := shutil.which(name))]
    prefixes = [program.parent.parent for program in programs if program.parent.name == "bin"]
    prefixes += [Path(path) for name in ("VIRTUAL_ENV", "CONDA_PREFIX") if (path := os.environ.get(name))]
    for prefix in prefixes:
        yield from sorted(prefix.glob("lib/python3*/site-packages"))
