"""Recognizes a tool by the structure of its output; a new tool is one module and one row here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any

from untilgreen.gates.output.parsers import file_line
from untilgreen.gates.output.plain_text import lines_of, plain
from untilgreen.gates.output.tool_result import ToolResult

_PARSERS = "untilgreen.gates.output.parsers"
_TAP = "tap"


class Tool:
    """How one tool is read: a function, imported and called only if the text contains one of its marks."""

    def __init__(self, reader: str, marks: tuple[str, ...]) -> None:
        """`reader` is `module:name`, in the package of parsers."""
        self.reader = reader
        self._marks = [(_rare(mark), mark) for mark in marks]

    def can_read(self, text: str) -> bool:
        """Whether the tool may have printed this text; for short marks `rfind` is faster than `in`."""
        return any(rare in text and text.rfind(mark) >= 0 for rare, mark in self._marks)

    @property
    def read(self) -> Callable[[Any], ToolResult | None]:
        """What the tool reports in these lines or this text, or None if it did not print them."""
        return _reader(self.reader)


def _rare(mark: str) -> str:
    """One character of the mark, to look for first, since that is quick; empty if all of them are common."""
    return next((each for each in mark if not each.islower() and each not in " :."), "")


def _reader(place: str) -> Callable[[Any], ToolResult | None]:
    """The function at `module:name` of the parsers; most outputs need one or two of thirty modules."""
    module, _, name = place.partition(":")
    found: Callable[[Any], ToolResult | None] = getattr(import_module(f".{module}", _PARSERS), name)
    return found


_PYTEST = ("===", "::", "%]", "ERROR", "FAILED", "PASSED", "conftest")
_ENDS = ("ed in ", "error in ", "errors in ", "warning in ", "warnings in ", "ran in ", "rerun in ", ") in ")
"""What comes before the time in the line that ends a session; every such line has one of them."""

TOOLS: Mapping[str, Tool] = {
    "pytest": Tool("pytest:read", (*_ENDS, *_PYTEST)),
    "unittest": Tool("unittest:read", ("Ran ", " ...", "=====")),
    "jest": Tool(
        "jest:read", ("FAIL ", "PASS ", "Test Suites: ", "No tests found", "process.exit called with")
    ),
    "vitest": Tool("vitest:read", ("⎯⎯", "Test Files  ", "Tests  ", "No test ")),
    "mocha": Tool("mocha:read", (" passing", "mocha", "No test files found")),
    "node": Tool("node:read", ("\u2139 tests ", "Failed tests:", "..")),
    "deno": Tool("deno:read", (" test from ", " tests from ", " passed", "at file://", "No test modules")),
    "bun": Tool("bun:read", ("bun test v",)),
    "ava": Tool("ava:read", ("✘ ", "  ─")),
    "jasmine": Tool("jasmine:read", (" spec", "Started")),
    "go-test": Tool("gotest:read", ("--- ", "=== ", "\t", '"Action":', ".go:", "no tests to run")),
    "cargo-test": Tool("cargotest:read", ("running ", "test result: ", " stdout ----")),
    "ctest": Tool("ctest:read", (" Test ", " Memcheck ", "% tests ", "No tests were", "tests FAILED")),
    "rspec": Tool("rspec:read", (" example",)),
    "phpunit": Tool("phpunit:read", ("PHPUnit", "Assertions: ", "OK (", "No tests ")),
    "maven": Tool("maven:read", ("[INFO]", "[WARNING]", "[ERROR]", "T E S T S")),
    "gradle": Tool("gradle:read", ("> Task :", "BUILD ", "tests completed", "test completed", "e: ")),
    "dotnet": Tool(
        "dotnet:read", ("! ", "): error ", "): warning ", "No test ", "Test Run ", " no test matches ")
    ),
    "swift": Tool("swift:read", ("Test Case '", " tests, with ", " test, with ", " Test ", "] Testing ")),
    "bazel": Tool("bazel:read", ("Executed ", "INFO: ", "ERROR: Build did NOT")),
    "minitest": Tool("minitest:read", (" assertions, ", "# Running:")),
    "busted": Tool("busted:read", (" pending : ",)),
    "prove": Tool("prove:read", ("Files=",)),
    "tap": Tool("tap:read", ("TAP version 1", "1..", "ok 1")),
    "tsc": Tool("tsc:read", (" TS",)),
    "eslint": Tool("eslint:read", (" error ", " warning ", " problem", "Oops!")),
    "ruff": Tool("ruff:read", ("-->", "Found ", "[*]", "Would reformat", "All checks passed!")),
    "mypy": Tool("mypy:read", ("error: ", "warning: ", "Found ", "Success: ")),
    "coverage": Tool("coverage:read", ("overage ",)),
    "cmake": Tool("cmake:read", ("CMake Error",)),
    "cargo": Tool("json_reports:read_cargo", ('{"reason":"',)),
    "gcc": Tool("gcc:read", (": ",)),
}
"""Test runners come before tools that only check code."""

DOCUMENTS: Mapping[str, Tool] = {
    "eslint": Tool("eslint:read_json", ('"filePath"',)),
    "ruff": Tool("ruff:read_json", ('"noqa_row"',)),
    "mocha": Tool("json_reports:read_mocha", ('"fullTitle"',)),
    "jest": Tool("json_reports:read_jest", ('"numFailedTests"',)),
    "rspec": Tool("json_reports:read_rspec", ('"summary_line"',)),
    "junit": Tool(".reports.junit:read_printed", ("<testsuite",)),
}
"""Tools whose output can be one JSON or XML document instead of lines."""


def recognize(text: str) -> ToolResult | None:
    """What the output reports: the first tool with findings, else the one that counts the most tests.

    If no tool is recognized, places in files that the text names are still findings.
    """
    results = recognize_all(text)
    return results[0] if results else None


def recognize_all(text: str) -> tuple[ToolResult, ...]:
    """What every tool in the output reports, as a command may run several; that of `recognize` comes first.

    The others are only tools that count, since lenient parsers would see findings in another tool's output.
    """
    whole = plain(text)
    if not whole.strip():
        return ()
    lines = lines_of(whole)
    known = [*_by_lines(whole, lines), *_documents(whole)]
    if not known:
        places = file_line.read(lines)
        return (places,) if places is not None else ()
    failing = (result for result in known if result.findings and not result.no_tests)
    first = next(failing, None) or max(known, key=lambda result: result.total)
    runners = {result.tool for result in known if result.total}
    if len(runners) > 1:  # TAP that another runner shows of its children is not counted twice
        known = [result for result in known if result.tool != _TAP or result is first]
    others = [
        result for result in known if result is not first and result.counts and result.tool != first.tool
    ]
    return (first, *others)


def _by_lines(whole: str, lines: Sequence[str]) -> Iterator[ToolResult]:
    """What each tool with a mark in the text reports."""
    for tool in TOOLS.values():
        if tool.can_read(whole) and (result := tool.read(lines)) is not None:
            yield result


def _documents(text: str) -> Iterator[ToolResult]:
    for tool in DOCUMENTS.values():
        if tool.can_read(text) and (result := tool.read(text)) is not None:
            yield result


def errors_in(text: str) -> ToolResult | None:
    """Findings about places in files that are more than warnings, from any tool."""
    return file_line.read(lines_of(text), warnings=False)
