"""JUnit XML, read test by test: what an agent's process wrote must not cost more than its size."""

from __future__ import annotations

from typing import BinaryIO
from xml.etree import ElementTree

from junitparser import Attr, Error, Failure, Skipped, TestCase

from untilgreen.core.model import Finding
from untilgreen.gates.reports.trouble import Unusable
from untilgreen.gates.seen import MOST_FINDINGS, Seen, distinct, gist, no_tests, steady
from untilgreen.gates.text import Here

TOOL = "junit"
_DEEPEST = 100
# Expat looks at an unfinished token anew with every chunk, so that small chunks take time squared.
_CHUNK_BYTES = 8_000_000
_ROOTS = ("testsuites", "testsuite")


def read(file: BinaryIO, here: Here = str) -> Seen:
    """The tests of one file; raises Unusable for anything but whole, plain JUnit XML."""
    gathered = _Gathered(here)
    parser = ElementTree.XMLParser(target=gathered)
    try:
        while chunk := file.read(_CHUNK_BYTES):
            parser.feed(chunk)
        parser.close()
    except (ElementTree.ParseError, LookupError, ValueError) as error:
        raise Unusable(f"is no well-formed XML ({error})") from error
    return gathered.seen()


class _Test(TestCase):
    """A test case with the file that some tools name."""

    file = Attr()


class _Gathered:
    """Listens to the parser, builds one test at a time and lets go of it as soon as it is counted."""

    def __init__(self, here: Here) -> None:
        self.here = here
        self.depth = 0
        self.test: ElementTree.TreeBuilder | None = None
        self.test_depth = 0
        self.passed = self.failed = self.skipped = 0
        self.findings: dict[str, Finding] = {}

    def doctype(self, name: str, public: str | None, system: str | None) -> None:
        raise Unusable("declares a document type, which a test report has no use for and an attack has")

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        tag = _local(tag)
        if self.depth == 0 and tag not in _ROOTS:
            raise Unusable(f"is no JUnit XML: its root is {tag[:100]!r}")
        self.depth += 1
        if self.depth > _DEEPEST:
            raise Unusable(f"is nested more than {_DEEPEST} levels deep")
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
                finding = _finding(test, bad, self.here)
                self.findings.setdefault(finding.id, finding)
        elif any(isinstance(result, Skipped) for result in results):
            self.skipped += 1
        else:
            self.passed += 1

    def seen(self) -> Seen:
        total = self.passed + self.failed + self.skipped
        findings = self.findings.values() if total else [no_tests("The report's tool")]
        return Seen(
            tool=TOOL,
            findings=distinct(findings),
            passed=self.passed,
            failed=self.failed,
            skipped=self.skipped,
            total=total,
            no_tests=not total,
        )


def _finding(test: _Test, bad: Failure | Error, here: Here) -> Finding:
    name = here("::".join(filter(None, (test.classname, test.name))))
    said = gist(here(bad.message or bad.text or ""))
    return Finding(id=steady(name) or "unnamed test", message=said, file=here(test.file or "") or None)


def _local(tag: str) -> str:
    """The tag without its namespace."""
    return tag.rpartition("}")[2]
