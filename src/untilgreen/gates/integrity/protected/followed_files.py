"""What a gate's own files run in turn: other scripts, a Makefile's rules, commands of package.json."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterator

from untilgreen.gates.integrity.protected.executed_files import files_run_by, without_substitutions
from untilgreen.gates.integrity.protected.patterns import RUN_BY
from untilgreen.regex import regex

_MAKEFILES = frozenset(name for names in RUN_BY.values() for name in names)
_INCLUDE = regex(r"^[-s]?include[ \t]+([^\n#]+)", re.MULTILINE)
_VARIABLE = regex(r"^(\w+)[ \t]*[:?+]?=[ \t]*([^\n#]*)", re.MULTILINE)
_USE = regex(r"\$[({](\w+)[)}]")
_IMPORT = regex(r"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import|import[ \t]+([\w., \t]+))", re.MULTILINE)
_REQUIRE = regex(r"""(?:require\(|from|import)[ \t]*\(?["'](\.{1,2}/[^"']+)["']""")
_PLACE = regex(r"""\$(?:\w+|\{[^{}]*\}|\((?:[^()]|\([^()]*\))*\))(?=["']?/)""")
"""A directory known only to the shell, as in `$HERE/lint.sh`: the script's own, or the one gates run in."""
_OPTIONAL = regex(r"^[-s]include[ \t]+([^\n#]+)", re.MULTILINE)
_RULE = regex(r"^([\w./-]+(?:[ \t]+[\w./-]+){0,20})[ \t]*:(?!=)[^\n=]*(?:\n\t|;)", re.MULTILINE)
_SOURCED = regex(
    r"(?:^|[;&|({]|\bthen\b|\bdo\b|\belse\b)[ \t]*(?:\.|source)[ \t]+[\"']?([\w./-]+)", re.MULTILINE
)
_OF_A_CHECK = regex(r"check|lint|test|verif|valid|assert|expect", re.IGNORECASE)
_SCRIPT_ENDINGS = (".js", ".cjs", ".mjs", ".ts")


def files_named_in(path: str, text: str, below: str) -> set[str]:
    """Paths that this file runs or loads; `below` is the directory that gates run in."""
    folder, name = posixpath.split(path)
    if name in _MAKEFILES or name.endswith(".mk"):
        return _of_makefile(text, folder)
    if name == "package.json":
        return _of_package(text, folder)
    ending = posixpath.splitext(name)[1]
    if ending == ".py":
        return set(_imports(text, folder, below.rstrip("/")))
    if ending in _SCRIPT_ENDINGS:
        return set(_requires(text, folder, below.rstrip("/")))
    if ending in (".sh", ".bash", "") or text.startswith("#!"):
        return _of_shell(text, folder, below.rstrip("/"))
    return set()


def files_read_if_there(path: str, text: str, below: str) -> set[str]:
    """Paths that this file reads if they exist or makes if they don't: a run could create any of them."""
    folder, name = posixpath.split(path)
    if name in _MAKEFILES or name.endswith(".mk"):
        found = [each for names in _OPTIONAL.findall(text) for each in names.split()]
        found += [each for names in _RULE.findall(text) for each in names.split()]
        return {posixpath.normpath(posixpath.join(folder, each)) for each in found if "$" not in each}
    if posixpath.splitext(name)[1] in (".sh", ".bash", "") or text.startswith("#!"):
        names = _SOURCED.findall(_PLACE.sub(".", text))
        places = (below.rstrip("/"), folder)
        return {posixpath.normpath(posixpath.join(place, each)) for place in places for each in names}
    return set()


def _of_shell(text: str, folder: str, below: str) -> set[str]:
    """Everything that a script runs, except the work whose output it compares.

    Each line is also read by itself: an apostrophe in a comment would hide everything up to the next one.
    """
    text = _PLACE.sub(".", text)
    substituted = {path for place in (below, folder) for path in files_run_by(text, place)}
    bare = without_substitutions(text)
    commands = (bare, *bare.replace("\\\n", " ").splitlines())
    run = {path for place in (below, folder) for each in commands for path in files_run_by(each, place)}
    return run | {path for path in substituted if _is_own(path, folder, below)}


def _is_own(path: str, folder: str, below: str) -> bool:
    """Whether a script that runs for its output is part of the check rather than of the work."""
    beside = folder != below and path.startswith(f"{folder}/")
    return beside or _OF_A_CHECK.search(posixpath.basename(path)) is not None


def _of_makefile(text: str, folder: str) -> set[str]:
    """Files that recipes run, prefix characters such as `@` aside, and included makefiles."""
    known = {name: value.strip() for name, value in _VARIABLE.findall(text)} | {"MAKE": "make"}
    found = {
        posixpath.normpath(posixpath.join(folder, name))
        for names in _INCLUDE.findall(text)
        for name in names.split()
    }
    for line in text.replace("\\\n", " ").splitlines():
        if line.startswith(("\t", " ")) or ":" in line:
            recipe = line if line.startswith(("\t", " ")) else line.partition(";")[2]
            recipe = _USE.sub(lambda use: known.get(use[1], ""), recipe.strip().lstrip("@-+ "))
            found |= files_run_by(without_substitutions(recipe), folder)
    return found


def _of_package(text: str, folder: str) -> set[str]:
    try:
        scripts = json.loads(text).get("scripts")
    except (ValueError, AttributeError, RecursionError):
        return set()
    commands = scripts.values() if isinstance(scripts, dict) else ()
    return {path for each in commands if isinstance(each, str) for path in files_run_by(each, folder)}


def _imports(text: str, folder: str, below: str) -> Iterator[str]:
    """Modules next to a check that belong to it; among the work, only those named like a check."""
    for start, several in _IMPORT.findall(text):
        for name in [start] if start else re.split(r"[,\s]+", several):
            module = name.lstrip(".").replace(".", "/")
            if module and (folder != below or _OF_A_CHECK.search(module)):
                place = posixpath.join(folder, module)
                yield from (f"{place}.py", f"{place}/__init__.py")


def _requires(text: str, folder: str, below: str) -> Iterator[str]:
    for name in _REQUIRE.findall(text):
        place = posixpath.normpath(posixpath.join(folder, name))
        if posixpath.dirname(place) == folder != below or _OF_A_CHECK.search(posixpath.basename(place)):
            yield from (place, *(f"{place}{ending}" for ending in _SCRIPT_ENDINGS))
