"""The files that a tool's configuration has loaded into every test run: plugins, setup files, reporters."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator

_KEYS = (
    r"(?:setupFiles(?:AfterEnv)?|globalSetup|globalTeardown|require|import|testEnvironment|"
    r"testRunner|runner|reporters?|snapshotResolver|snapshotSerializers)"
)
_VALUE = r"\s*(\[[^\]]*\]|\([^)]*\)|[^\s,#]+)"
_NAMED = re.compile(rf"\bpytest_plugins\s*(?::[^=\n]{{0,60}})?={_VALUE}|\b{_KEYS}\b[\"']?\s*[:=]{_VALUE}")
_LISTED = re.compile(rf"^{_KEYS}:[ \t]*\n((?:[ \t]*-[ \t]+\S+[ \t]*\n?)+)", re.MULTILINE)
_OPTION = re.compile(r"(?:^|[\s\"'=])-p[ =]?([A-Za-z_][\w.]*)")
_WORD = re.compile(r"[^\s\"'`,\[\]()]+")
_ENDINGS = ("", ".py", "/__init__.py", ".js", ".cjs", ".mjs", ".ts", ".mts", "/index.js", "/index.ts")


def named_in(path: str, text: str, files: Iterable[str]) -> set[str]:
    """Those of the files that this piece of configuration has loaded."""
    known = frozenset(files)
    places = {posixpath.dirname(path), ""}
    found = set()
    for name in _names(text):
        for place in places:
            for ending in _ENDINGS:
                for spelt in (name, name.replace(".", "/")):
                    file = posixpath.normpath(posixpath.join(place, f"{spelt}{ending}"))
                    if file in known:
                        found.add(file)
    return found - {path}


def _names(text: str) -> Iterator[str]:
    named = ("".join(groups) for groups in _NAMED.findall(text))
    for value in (*named, *_LISTED.findall(text)):
        for word in _WORD.findall(value):
            yield word.replace("<rootDir>/", "").removeprefix("./").lstrip("/")
    yield from _OPTION.findall(text)
