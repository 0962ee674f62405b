"""Files that a gate made while it ran and that configure a tool: its next command would read them."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from pathlib import Path

from untilgreen.gates.integrity.protected.patterns import CACHES
from untilgreen.gates.integrity.protected.protection import is_configuration
from untilgreen.regex import regex

_NUMBERS = regex(r"\d+(?:\.\d+)*")
_INSTALLED = ("site-packages/", "dist-packages/", "-info/")
_OF_PYTHON = ("sitecustomize.py", "usercustomize.py")
_LEFT_OUT = CACHES | {"node_modules"}
"""Directories that are not searched: files in them are an installation's own."""


def files_in(room: Path) -> frozenset[str]:
    """All files of a room, without caches and node packages."""
    return frozenset(_files(room, ""))


def settings_among(room: Path, paths: Collection[str]) -> list[str]:
    """The paths that configure a tool, or are loaded by one."""
    return [path for path in sorted(paths) if is_configuration(path) and _counts(room / path, path)]


def without_version(path: str) -> str:
    """A path without numbers: an installation may have another version than before."""
    return _NUMBERS.sub("", path)


def _files(room: Path, folder: str) -> Iterator[str]:
    try:
        entries = list(os.scandir(room / folder))
    except OSError:
        return
    for entry in entries:
        path = f"{folder}{entry.name}"
        if entry.is_file(follow_symlinks=False) or entry.is_symlink():
            yield path  # but no device: overlays use those to hide files of the workspace
        elif entry.is_dir(follow_symlinks=False) and entry.name not in _LEFT_OUT:
            yield from _files(room, f"{path}/")


def _counts(place: Path, path: str) -> bool:
    """Whether it counts: of installed files, only those that Python or pytest loads by itself."""
    try:
        if not any(each in path.lower() for each in _INSTALLED) or place.name in _OF_PYTHON:
            return True
        if place.suffix == ".pth":
            return "import" in place.read_text(encoding="utf-8", errors="replace")
        return place.name == "entry_points.txt" and "[pytest11]" in place.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return False
