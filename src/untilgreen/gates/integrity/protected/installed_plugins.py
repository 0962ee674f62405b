"""The modules that pytest loads by itself, because packages are installed that say so."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

from untilgreen.regex import regex

_SECTION = regex(r"^\[pytest11\][ \t]*\n((?:[ \t]*(?!\[)[^\n]*(?:\n|$))*)", re.MULTILINE)
_MODULE = regex(r"=[ \t]*([A-Za-z_]\w*)")
_PROGRAM = regex(r"/[^\s;&|\"'()]+")
_LARGEST = 100_000
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


def _libraries(commands: Iterable[str]) -> Iterator[Path]:
    programs = [Path(name) for command in commands for name in _PROGRAM.findall(command)]
    programs += [Path(path) for name in _USUAL if (path := shutil.which(name))]
    prefixes = [program.parent.parent for program in programs if program.parent.name == "bin"]
    prefixes += [Path(path) for name in ("VIRTUAL_ENV", "CONDA_PREFIX") if (path := os.environ.get(name))]
    for prefix in prefixes:
        yield from sorted(prefix.glob("lib/python3*/site-packages"))
