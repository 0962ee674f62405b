"""What gates read, derived from what is known before the first lap: commands, configuration and results.

File names alone would miss a test called `checks.py`; the results of a runner don't.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from anyio import to_thread

from untilgreen.core.values.model import Finding, GateSpec, Verdict
from untilgreen.gates.integrity.protected.executed_files import files_run_by, folders_of_programs
from untilgreen.gates.integrity.protected.followed_files import files_named_in, files_read_if_there
from untilgreen.gates.integrity.protected.go_helpers import IMPORTS, helpers_of_tests
from untilgreen.gates.integrity.protected.installed_plugins import modules_of_plugins
from untilgreen.gates.integrity.protected.loaded_files import files_loaded_by, patterns_of_tests
from untilgreen.gates.integrity.protected.mixed_files import is_mixed
from untilgreen.gates.integrity.protected.patterns import RUN_BY
from untilgreen.gates.integrity.protected.protection import is_configuration
from untilgreen.gates.integrity.protected.python_doctests import is_example
from untilgreen.gates.integrity.trees import Trees
from untilgreen.regex import regex

_DEEPEST = 5
_LONGEST_TEXT = 200_000
_IMPORTED = regex(r"^[ \t]*(?:from|import)[ \t]+\.{0,3}([A-Za-z_][\w.]*)", re.MULTILINE)
_HOOK = regex(r"\bdef pytest_\w+\(|\bpytest\.(?:fixture|hookimpl)\b|\bpytest_plugins\b")
_OF_TESTS = regex(r"test|spec|check|^t$|e2e|verif", re.IGNORECASE)


class Derived(NamedTuple):
    """What was found beyond the names that are always protected."""

    scripts: frozenset[str]
    """Files that the gates run, and what those run and load in turn."""
    tests: tuple[str, ...]
    """Patterns and paths of tests."""
    examples: frozenset[str] = frozenset()
    """Ids of failed tests that are examples in docstrings of the product."""
    plugins: frozenset[str] = frozenset()
    """Modules that the installed plugins of a test runner are loaded from."""
    programs: frozenset[str] = frozenset()
    """Directories of the tree in which a check looks for programs."""


async def derive(  # noqa: PLR0917 - everything that is known before the first lap
    trees: Trees,
    original: str,
    files: frozenset[str],
    below: str,
    gates: Sequence[GateSpec],
    baseline: Mapping[str, Verdict],
) -> Derived:
    """Read what the untouched tree says about its own tests."""
    tests: set[str] = set()
    examples: set[str] = set()
    for test, path in [each for verdict in baseline.values() for each in _named_by(verdict, files, below)]:
        if is_example(path, await _text(trees, original, path), test):
            examples.add(test)
        else:
            tests.add(path)
    loaded: set[str] = set()
    for path in files:
        if is_mixed(path) or is_configuration(path):
            text = await _text(trees, original, path)
            loaded |= files_loaded_by(path, text, files)
            loaded |= await _hooks_of(trees, original, path, text, files)
            tests |= set(patterns_of_tests(path, text))
    if any(path.endswith("_test.go") for path in files):
        modules = [path for path in files if posixpath.basename(path) == "go.mod"]
        texts = {path: await _text(trees, original, path) for path in modules}
        tests |= helpers_of_tests(files, texts, await trees.lines(original, IMPORTS, "*.go"))
    programs: set[str] = set()
    commands = [
        (command, posixpath.join(below, str(gate.options.get("cwd") or "")))
        for gate in gates
        for command in commands_of(gate.options)
    ]
    for command, cwd in commands:
        loaded |= files_run_by(command, cwd)
        programs |= folders_of_programs(command, cwd)
    tests |= {
        f"{path}/*" for path in loaded if _OF_TESTS.search(posixpath.basename(path)) and path not in files
    }
    scripts = set(await _followed(trees, original, files, below, loaded))
    for path in sorted(scripts):
        text = await _text(trees, original, path)
        scripts |= files_read_if_there(path, text, below) - files
        programs |= folders_of_programs(text, below)
    scripts |= {path for path in loaded if _is_read_first(path, files)}
    plugins = await to_thread.run_sync(modules_of_plugins, [command for command, _ in commands])
    return Derived(
        frozenset(scripts), tuple(sorted(tests)), frozenset(examples), plugins, frozenset(programs)
    )


async def _hooks_of(trees: Trees, original: str, path: str, text: str, files: frozenset[str]) -> set[str]:
    """Modules that a conftest imports its hooks or fixtures from."""
    found: set[str] = set()
    if posixpath.basename(path) != "conftest.py":
        return found
    for module in _IMPORTED.findall(text):
        for name in (f"{module.replace('.', '/')}.py", f"{module.replace('.', '/')}/__init__.py"):
            for place in ("", posixpath.dirname(path)):
                file = posixpath.normpath(posixpath.join(place, name))
                if file in files and _HOOK.search(await _text(trees, original, file)):
                    found.add(file)
    return found


def _is_read_first(path: str, files: frozenset[str]) -> bool:
    """A makefile that make would prefer to the existing one."""
    folder, name = posixpath.split(path)
    beside = [names for names in RUN_BY.values() if name in names]
    return any(posixpath.join(folder, other) in files for names in beside for other in names)


async def _followed(
    trees: Trees, original: str, files: frozenset[str], below: str, start: set[str]
) -> frozenset[str]:
    found: set[str] = set()
    new = start
    for _ in range(_DEEPEST):
        new = (new & files) - found
        found |= new
        inner: set[str] = set()
        for path in new:
            inner |= files_named_in(path, await _text(trees, original, path), below)
        new = inner
    return frozenset(found)


async def _text(trees: Trees, snapshot: str, path: str) -> str:
    return (await trees.content(snapshot, path) or b"").decode(errors="replace")[:_LONGEST_TEXT]


def commands_of(options: object) -> list[str]:
    """Every shell command in a gate's options, however deep."""
    match options:
        case dict():
            own = [value for key, value in options.items() if key == "run" and isinstance(value, str)]
            return [*own, *(each for value in options.values() for each in commands_of(value))]
        case list():
            lines = [each for each in options if isinstance(each, str)]
            return [*lines, *(each for value in options for each in commands_of(value))]
        case _:
            return []


def _named_by(verdict: Verdict, files: frozenset[str], below: str) -> Iterator[tuple[str, str]]:
    """The ids of a test runner's findings, each with a file that it names.

    Findings of linters and other checks are left out: they are about the work.
    """
    if not any(tool.total for tool in verdict.tools):
        return
    for finding in verdict.findings:
        if finding.file is not None and finding.id.startswith(f"{finding.file}: "):
            continue
        for name in _candidates(finding):
            path = posixpath.normpath(f"{below}{name}")
            if path in files:
                yield finding.id, path


def _candidates(finding: Finding) -> Iterator[str]:
    yield re.split(r"::| > | › |:\d", finding.id)[0].strip()
    dotted = finding.id.split("::")[0].split(" ")[0].split(".")
    for length in range(1, len(dotted)):
        yield "/".join(dotted[:length]) + ".py"
