"""The files that a tool's configuration loads into every test run: plugins, setup files, reporters."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator
from itertools import islice

from untilgreen.regex import regex

_KEYS = (
    r"(?:setupFiles(?:AfterEnv)?|globalSetup|globalTeardown|require|import|testEnvironment|"
    r"testRunner|runner|reporters?|snapshotResolver|snapshotSerializers|extends?|presets?|plugins?|transform|"
    r"resolver|configFile|env_files?)"
)
_ONE = r"\[[^\]]*\]|\([^)]*\)|\{[^}]*\}|[^\s,#]+"
_VALUE = rf"\s*({_ONE})"
_QUOTED = r"\"[^\"\n]*\"|'[^'\n]*'|`[^`\n]*`"
_GLOBS = rf"\s*(\[(?:{_QUOTED}|[^\]\"'`])*\]|{_QUOTED}|{_ONE})"
"""A glob may contain the brackets and commas that end a list or an entry of it."""
_NAMED = regex(rf"\bpytest_plugins\s*(?::[^=\n]{{0,60}})?={_VALUE}|\b{_KEYS}\b[\"']?\s*[:=]{_VALUE}")
_LISTED = regex(rf"^{_KEYS}:[ \t]*\n((?:[ \t]*-[ \t]+\S+[ \t]*\n?)+)", re.MULTILINE)
_OPTION = regex(r"(?:^|[\s\"'=])-p[ =]?([A-Za-z_][\w.]*)")
_TESTED = regex(
    rf"\bpython_files[\"']?\s*=\s*(\[[^\]]*\]|[^\n]*(?:\n[ \t]+[^\n]+)*)"
    rf"|\b(?:testMatch|spec|testFiles|specPattern)\b[\"']?\s*[:=]{_GLOBS}"
)
_REQUIRED = regex(r"""(?:\brequire\(|\bfrom\b|\bimport\b)[ \t]*\(?["'](\.{1,2}/[^"']+)["']""")
_SCRIPTS = (".js", ".cjs", ".mjs", ".ts", ".cts", ".mts")
_WORD = regex(r"[^\s\"'`,\[\]()]+")
_STRING = regex(_QUOTED)
_MOST_PATTERNS = 500
"""Nested alternatives multiply."""
_ENDINGS = ("", ".py", "/__init__.py", ".js", ".cjs", ".mjs", ".ts", ".mts", "/index.js", "/index.ts")


def files_loaded_by(path: str, text: str, files: Iterable[str]) -> set[str]:
    """The files that this piece of configuration loads."""
    known = frozenset(files)
    places = {posixpath.dirname(path), ""}
    found = set()
    own = _REQUIRED.findall(text) if path.endswith(_SCRIPTS) else ()
    for name in (*_names(text), *own):
        for place in places:
            for ending in _ENDINGS:
                for spelled in (name, name.replace(".", "/")):
                    file = posixpath.normpath(posixpath.join(place, f"{spelled}{ending}"))
                    if file in known:
                        found.add(file)
    return found - {path}


def patterns_of_tests(path: str, text: str) -> Iterator[str]:
    """Patterns of the files that this piece of configuration declares as tests."""
    for value in ("".join(groups) for groups in _TESTED.findall(text)):
        strings = [string[1:-1] for string in _STRING.findall(value)]
        for word in strings or _WORD.findall(value):
            spelled = _spelled_out(_with_braces(word.replace("<rootDir>/", "")))
            for glob in islice(spelled, _MOST_PATTERNS):
                if re.search(r"\w", glob.rpartition(".")[0] or glob):
                    yield glob


def _with_braces(glob: str) -> str:
    """The alternatives of extended globs as braces: `?(x)` is `{,x}`, `+(a|b)` is `{a,b}`."""
    glob = re.sub(r"[*!]\([^()]*\)", "*", glob)
    glob = re.sub(r"\?\(([^()]*)\)", r"@(|\1)", glob)
    return re.sub(r"[@+]\(([^()]*)\)", lambda found: f"{{{found[1].replace('|', ',')}}}", glob)


def _spelled_out(glob: str) -> Iterator[str]:
    """One pattern for each alternative in braces, with stars that match across directories."""
    braces = re.search(r"\{([^{}]*)\}", glob)
    if braces:
        for each in braces[1].split(","):
            yield from _spelled_out(glob[: braces.start()] + each + glob[braces.end() :])
        return
    anywhere = glob.removeprefix("./").startswith("**/")
    glob = re.sub(r"^(?:\./|\*\*/)+", "", glob).replace("/**/", "/*").replace("**", "*").removesuffix("$")
    yield glob if "*" in glob or "/" in glob or "." in glob else f"{glob}/*"
    if anywhere and "/" in glob:
        yield f"*/{glob}"


def _names(text: str) -> Iterator[str]:
    named = ("".join(groups) for groups in _NAMED.findall(text))
    for value in (*named, *_LISTED.findall(text)):
        for word in _WORD.findall(value):
            yield word.replace("<rootDir>/", "").removeprefix("./").lstrip("/")
    yield from _OPTION.findall(text)
