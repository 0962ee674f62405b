"""Knowing a tool by the structure of what it prints; a new tool is one module and one row here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from untilgreen.gates.recognise import (
    cargotest,
    ctest,
    eslint,
    gcc,
    gotest,
    jest,
    located,
    maven,
    mocha,
    mypy,
    node,
    phpunit,
    pytest,
    rspec,
    ruff,
    tap,
    tsc,
    unittest,
    vitest,
)
from untilgreen.gates.seen import Seen
from untilgreen.gates.text import lines_of, plain

Reader = Callable[[Sequence[str]], Seen | None]
"""Says what its tool tells in these lines, or None where its tool did not print them."""


class Tool(NamedTuple):
    """How one tool is read; its reader is asked only where a mark of it stands in the text."""

    read: Reader
    marks: tuple[str, ...]


TOOLS: Mapping[str, Tool] = {
    "pytest": Tool(pytest.read, (*pytest.ENDS, "===", "::", "%]", "ERROR", "FAILED", "PASSED", "conftest")),
    "unittest": Tool(unittest.read, ("Ran ", " ...", "=====")),
    "jest": Tool(jest.read, ("FAIL ", "PASS ", "Test Suites: ", "No tests found")),
    "vitest": Tool(vitest.read, ("⎯⎯", "Test Files  ", "Tests  ", "No test ")),
    "mocha": Tool(mocha.read, (" passing", "mocha", "No test files found")),
    "node": Tool(node.read, ("\u2139 tests ",)),
    "go-test": Tool(gotest.read, ("--- ", "=== ", "\t", '"Action":', ".go:", "no tests to run")),
    "cargo-test": Tool(cargotest.read, ("running ", "test result: ", " stdout ----")),
    "ctest": Tool(ctest.read, (" Test ", " Memcheck ", "% tests ", "No tests were", "tests FAILED")),
    "rspec": Tool(rspec.read, (" example",)),
    "phpunit": Tool(phpunit.read, ("PHPUnit", "Assertions: ", "OK (", "No tests ")),
    "maven": Tool(maven.read, ("[INFO]", "[WARNING]", "[ERROR]", "T E S T S")),
    "tap": Tool(tap.read, ("TAP version 1", "1..")),
    "tsc": Tool(tsc.read, (" TS",)),
    "eslint": Tool(eslint.read, (" error ", " warning ", " problem", "Oops!")),
    "ruff": Tool(ruff.read, ("-->", "Found ", "[*]", "Would reformat", "All checks passed!")),
    "mypy": Tool(mypy.read, ("error: ", "warning: ", "Found ", "Success: ")),
    "gcc": Tool(gcc.read, (": ",)),
}
"""Those that run tests come before those that only look at code."""

DOCUMENTS: Mapping[str, Callable[[str], Seen | None]] = {
    "eslint": eslint.read_json,
    "ruff": ruff.read_json,
}
"""Tools whose output can be one JSON document, which is no matter of lines."""


def recognise(text: str) -> Seen | None:
    """What the output tells: the first tool that complains, else the one that counts most tests.

    Where no tool is known, complaints about places in files are still findings.
    """
    whole = plain(text)
    lines = lines_of(whole)
    known: list[Seen] = []
    for seen in chain(_by_lines(whole, lines), _documents(whole)):
        if seen.findings and not seen.no_tests:
            return seen
        known.append(seen)
    return max(known, key=lambda seen: seen.total) if known else located.read(lines)


def _by_lines(whole: str, lines: Sequence[str]) -> Iterator[Seen]:
    """What each tool with a mark in the text says; one after another, since the first complaint is enough."""
    for tool in TOOLS.values():
        if any(mark in whole for mark in tool.marks) and (seen := tool.read(lines)) is not None:
            yield seen


def _documents(text: str) -> Iterator[Seen]:
    for read in DOCUMENTS.values():
        if (seen := read(text)) is not None:
            yield seen


def errors_in(text: str) -> Seen | None:
    """Complaints about places in files that are more than warnings, whoever printed them."""
    return located.read(lines_of(text), warnings=False)
