"""JUnit XML, read test by test: memory stays bounded, whatever the file's size."""

from __future__ import annotations

import re
from io import BytesIO
from typing import BinaryIO
from xml.etree import ElementTree

from junitparser import Attr, Error, Failure, Skipped, TestCase

from untilgreen.core.values.model import Finding
from untilgreen.gates.output.plain_text import MakeRelative
from untilgreen.gates.output.tool_result import (
    MOST_FINDINGS,
    BadReport,
    ToolResult,
    distinct,
    first_lines,
    no_tests,
    stable_name,
)
from untilgreen.regex import regex

TOOL = "junit"
_DEEPEST = 100
# Expat starts an unfinished token again with every chunk, so small chunks take quadratic time.
_CHUNK_BYTES = 8_000_000
_PRINTED = regex(r"^\s{0,9}<(testsuites?)[ >]", re.MULTILINE)
_ROOTS = ("testsuites", "testsuite")


def read(file: BinaryIO, make_relative: MakeRelative = str) -> ToolResult:
    """The tests of one file; raises BadReport for anything but whole, plain JUnit XML."""
    gathered = _Gathered(make_relative)
    parser = ElementTree.XMLParser(target=gathered)
    try:
        while chunk := file.read(_CHUNK_BYTES):
            parser.feed(chunk)
        parser.close()
    except (ElementTree.ParseError, LookupError, ValueError) as error:
        raise BadReport(f"is not well-formed XML ({error})") from error
    return gathered.seen()


def read_printed(text: str) -> ToolResult | None:
    """JUnit XML that a runner printed instead of writing a file; None if there is none."""
    start = _PRINTED.search(text)
    if start is None:
        return None
    end = text.rfind(f"</{start[1]}>")
    if end < 0:
        return None
    try:
        return read(BytesIO(text[start.start() : end + len(start[1]) + 3].encode()))
    except BadReport:
        return None


class _Test(TestCase):
    """A test case with the file that some tools name."""

    file = Attr()


class _Gathered:
    """Builds one test at a time from the parser's events, and drops it as soon as it is counted."""

    def __init__(self, make_relative: MakeRelative) -> None:
        self.make_relative = make_relative
        self.depth = 0
        self.test: ElementTree.TreeBuilder | None = None
        self.test_depth = 0
        self.passed = self.failed = self.skipped = 0
        self.findings: dict[str, Finding] = {}

    def doctype(self, name: str, public: str | None, system: str | None) -> None:
        raise BadReport("declares a document type, which no test report needs and attacks use")

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        tag = _local(tag)
        if self.depth == 0 and tag not in _ROOTS:
            raise BadReport(f"is not JUnit XML: its root is {tag[:100]!r}")
        self.depth += 1
        if self.depth > _DEEPEST:
            raise BadReport(f"is nested more than {_DEEPEST} levels deep")
        if self.test is None and tag == "testcase":
            self.test, self.test_depth = ElementTree.TreeBuilder(), self.depth
        if self.test is not None:
            self.test.start(tag, attributes)

    def data(self, text: str) -> None:
        if self.test is not None:
            self.test.data(text)

    def end(self, tag: str) -> None:
        if self.test is not None:
            self.test.end(_local(tag))
            if self.depth == self.test_depth:
                # junitparser has no annotations.
                self._count(_Test.fromelem(self.test.close()))  # type: ignore[no-untyped-call]  # junitparser has no types
                self.test = None
        self.depth -= 1

    def close(self) -> None:
        """Nothing is left to build."""

    def _count(self, test: _Test) -> None:
        results = list(test)
        bad = next((result for result in results if isinstance(result, Failure | Error)), None)
        if bad is not None:
            self.failed += 1
            if len(self.findings) < MOST_FINDINGS:
                finding = _finding(test, bad, self.make_relative)
                self.findings.setdefault(finding.id, finding)
        elif any(isinstance(result, Skipped) for result in results):
            self.skipped += 1
        else:
            self.passed += 1

    def seen(self) -> ToolResult:
        total = self.passed + self.failed + self.skipped
        findings = self.findings.values() if total else [no_tests("The report's tool")]
        return ToolResult(
            tool=TOOL,
            findings=distinct(findings),
            passed=self.passed,
            failed=self.failed,
            skipped=self.skipped,
            total=total,
            no_tests=not total,
        )


def _finding(test: _Test, bad: Failure | Error, make_relative: MakeRelative) -> Finding:
    name = make_relative("::".join(filter(None, (test.classname, test.name))))
    said = first_lines(make_relative(bad.message or bad.text or ""))
    return Finding(
        id=stable_name(name) or "unnamed test", message=said, file=make_relative(test.file or "") or None
    )


def _local(tag: str) -> str:
    """The tag without its namespace."""
    return tag.rpartition("}")[2]
