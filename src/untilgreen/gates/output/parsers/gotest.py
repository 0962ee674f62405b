"""go test: `--- FAIL: TestX` and a line for each package, or one JSON event per line with `-json`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from msgspec import DecodeError, Struct
from msgspec.json import Decoder
from msgspec.structs import replace

from untilgreen.core.values.model import Finding
from untilgreen.gates.output.parsers.findings import finding_about, finding_at, linter_result, runner_result
from untilgreen.gates.output.tool_result import ToolResult
from untilgreen.regex import regex

TOOL = "go-test"
_EMPTY = ("[no test files]", "[no tests to run]")
_OUTCOME = regex(r" {0,200}--- (PASS|FAIL|SKIP): (\S{1,500}) \(\d{1,9}(?:\.\d{1,9})?s\)$")
_SUMMED_UP = regex(r"=== (FAIL|SKIP): (\S{1,500}) (\S{1,500}) \(\d{1,9}(?:\.\d{1,9})?s\)$")
"""How gotestsum repeats a failure; a package of the same module is a relative path."""
_HANGING = regex(r"\t\t(Test\S{1,500}) \(\S{1,30}\)$")
_RUN = regex(r"=== (?:RUN|CONT|NAME) {2,3}(\S{1,500})$")
_PACKAGE = regex(r"(ok {2}|FAIL|\?   )\t(\S{1,500})(?:[\t ](.*))?$")
_BUILDING = regex(r"# (\S{1,500})(?: \[\S{1,500}\])?$")
_PLACE = regex(r"\s{0,40}(?:vet: )?((?:\.{0,2}/)?[^\s:]{1,300}\.go):(\d{1,7})(?::\d{1,5})?: (\S.*)$")
_BARE_PLACE = regex(r"\s{0,200}[^\s:]{1,300}\.go:\d{1,7}:$")
"""A place whose message begins on the next line."""
_LINTER = regex(r"\([a-z][a-z0-9-]{1,30}\)$")
_WORDS = {"pass": "PASS", "fail": "FAIL", "skip": "SKIP"}
_TROUBLE = ("panic: ", "fatal error: ", "WARNING: DATA RACE")
_BEGINNINGS = ("=== ", "\t\tTest", "ok  \t", "FAIL\t", "?   \t", "# ", "testing: ", *_TROUBLE)
"""How a line begins that matters to the reader, unless it is an outcome or names a place."""


def read(lines: Sequence[str]) -> ToolResult | None:
    """What go test says in these lines; None if it did not print them."""
    if (events := _read_events(lines)) is not None:
        return events
    reader = _Reader()
    for line in lines:
        # Most lines of other tools are sorted out here.
        if line.startswith(_BEGINNINGS) or "--- " in line or ".go:" in line or (line and reader.bare):
            reader.line(line)
    reader.end()
    if reader.account.known:
        return reader.account.seen()
    return _only_places(reader.places)


class _Reader:
    """Goes through the lines once; the name of a package comes after its tests."""

    def __init__(self) -> None:
        self.account = _Account()
        self.running = ""
        self.building = ""
        self.package = ""
        self.pending: list[tuple[str, str]] = []
        self.places: list[re.Match[str]] = []
        self.said: dict[str, str] = {}
        self.trouble = ""
        self.above: list[tuple[int, str]] = []
        """Tests whose outcome is above a line, outermost first, with their indentation."""
        self.bare: tuple[str, str] | None = None
        """A test, and a place in it whose message begins on one of the next lines."""

    def line(self, line: str) -> None:
        if (outcome := _OUTCOME.match(line)) is not None:
            self.running = outcome[2]
            indent = _indent(line)
            self.above = [
                *((depth, name) for depth, name in self.above if depth < indent),
                (indent, outcome[2]),
            ]
            self.pending.append((outcome[2], outcome[1]))
            self.account.known = True
        elif (summed := _SUMMED_UP.match(line)) is not None:
            self.running, self.package = summed[3], "" if summed[2] == "." else summed[2]
            self.account.test(self.package, self.running, summed[1], "")
        elif (hanging := _HANGING.match(line)) is not None and "timed out" in self.trouble:
            self.pending.append((hanging[1], "FAIL"))
        elif (run := _RUN.match(line)) is not None:
            self.running = run[1]
            self.account.known = self.account.verbose = True
        elif (package := _PACKAGE.match(line)) is not None:
            self._package(package[1].strip(), package[2], package[3] or "")
        elif (place := _PLACE.match(line)) is not None:
            self._place(place)
        elif _BARE_PLACE.match(line):
            self.bare = (self._owner(line), line.strip())
        elif self.bare is not None and not line.endswith(":"):
            owner, where = self.bare
            self.said.setdefault(owner, f"{where} {line.strip()}")
            self.bare = None
        elif (building := _BUILDING.match(line)) is not None:
            self.building = building[1]
        elif line.startswith(_TROUBLE):
            self.trouble = self.trouble or line
        elif line == "testing: warning: no tests to run":
            self.account.known = True

    def _place(self, place: re.Match[str]) -> None:
        self.places.append(place)
        if (self.package, self.running) in self.account.tests:
            self.account.test(self.package, self.running, "FAIL", place[0].strip())
        elif self.running:
            self.said.setdefault(self._owner(place[0]), place[0].strip())
        elif self.building:
            self.account.broken(self.building, finding_at(place[1], int(place[2]), place[3]))

    def _owner(self, line: str) -> str:
        """The test that logged a line: the one above with less indentation; with `-v` the running one."""
        if self.account.verbose:
            return self.running
        indent = _indent(line)
        return next((name for depth, name in reversed(self.above) if depth < indent), self.running)

    def _package(self, word: str, name: str, rest: str) -> None:
        for test, outcome in self.pending:
            self.account.test(name, test, outcome, self.said.get(test) or self.trouble)
        self.account.package(name, word, rest, self.trouble)
        self.pending, self.said, self.running, self.building, self.trouble = [], {}, "", "", ""
        self.above, self.bare = [], None

    def end(self) -> None:
        """Count the tests whose package was never named."""
        for test, outcome in self.pending:
            self.account.test("", test, outcome, self.said.get(test) or self.trouble)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _only_places(places: Sequence[re.Match[str]]) -> ToolResult | None:
    """Places in an excerpt of what the compiler or a test printed: test files only, and no linter's."""
    if not places or any("_test.go" not in place[1] or _LINTER.search(place[3]) for place in places):
        return None
    findings: list[Finding] = [finding_at(place[1], int(place[2]), place[3]) for place in places]
    return linter_result(TOOL, findings)


class _Event(Struct, frozen=True):
    Action: str
    Package: str = ""
    ImportPath: str = ""
    Test: str = ""
    Output: str = ""


_DECODER = Decoder(_Event)


def _read_events(lines: Sequence[str]) -> ToolResult | None:
    """What the events say; None if there are none."""
    account = _Account(verbose=True)
    said: dict[tuple[str, str], str] = {}
    trouble: dict[str, str] = {}
    empty: set[str] = set()
    for line in lines:
        if not line.startswith('{"') or (event := _event(line)) is None:
            continue
        if event.Action in ("output", "build-output"):
            _output(event, account, said, trouble, empty)
        elif (word := _WORDS.get(event.Action)) is None:
            continue
        elif event.Test:
            account.test(event.Package, event.Test, word, said.get((event.Package, event.Test), ""))
        elif event.Package:
            _package(event.Package, word, account, trouble, empty)
    return account.seen() if account.known else None


def _event(line: str) -> _Event | None:
    if '"Action":"' not in line:
        return None
    try:
        return _DECODER.decode(line)
    except (DecodeError, RecursionError):
        return None


def _output(
    event: _Event,
    account: _Account,
    said: dict[tuple[str, str], str],
    trouble: dict[str, str],
    empty: set[str],
) -> None:
    text = event.Output.strip()
    place = _PLACE.match(text)
    if event.Action == "build-output":
        if place is not None:
            account.broken(event.ImportPath.partition(" ")[0], finding_at(place[1], int(place[2]), place[3]))
    elif text.startswith(_TROUBLE):
        trouble.setdefault(event.Package, text)
        said.setdefault((event.Package, event.Test), text)
    elif (place is not None and event.Test) or (event.Test and _BARE_PLACE.match(text)):
        said.setdefault((event.Package, event.Test), text)
    elif text and not text.endswith(":") and _BARE_PLACE.match(said.get((event.Package, event.Test), "")):
        said[event.Package, event.Test] += f" {text}"
    elif "failed]" in text and text.startswith("FAIL\t"):
        trouble.setdefault(event.Package, text[text.index("[") :])
    elif text.endswith(("[no test files]", "[no tests to run]")):
        empty.add(event.Package)


def _package(name: str, word: str, account: _Account, trouble: dict[str, str], empty: set[str]) -> None:
    if name in empty or word == "SKIP":
        account.package(name, "?", "", "")
    else:
        account.package(name, "ok" if word == "PASS" else "FAIL", "", trouble.get(name, ""))


@dataclass
class _Account:
    """What was seen so far; a test with subtests only stands for them."""

    known: bool = False
    verbose: bool = False
    """Whether tests that passed are named, too; else only packages can be counted."""
    tests: dict[tuple[str, str], tuple[str, str]] = field(default_factory=dict)
    packages: dict[str, tuple[str, str]] = field(default_factory=dict)
    builds: dict[str, list[Finding]] = field(default_factory=dict)
    empty: set[str] = field(default_factory=set)

    def test(self, package: str, name: str, outcome: str, said: str) -> None:
        self.known = True
        self.tests[package, name] = (outcome, said)

    def broken(self, package: str, finding: Finding) -> None:
        """Note a finding of the compiler."""
        self.builds.setdefault(package, []).append(finding)

    def package(self, name: str, word: str, rest: str, trouble: str) -> None:
        """Note a package: `ok`, `FAIL` or `?`, and what follows the name."""
        self.known = True
        if word == "?" or rest.endswith(_EMPTY):
            self.empty.add(name)
        else:
            self.packages[name] = (word, trouble or rest)

    def seen(self) -> ToolResult:
        parents = _above(self.tests)
        red = {key for key, (outcome, _) in self.tests.items() if outcome == "FAIL"}
        blamed = _above(red)
        findings = [
            finding_about(f"{package}.{name}" if package else name, self.tests[package, name][1])
            for package, name in self.tests
            if (package, name) in red and (package, name) not in blamed
        ]
        findings += self._packages({package for package, _ in red})
        outcomes = [
            outcome for key, (outcome, _) in self.tests.items() if key not in parents or key in red - blamed
        ]
        if self.verbose:
            return runner_result(
                TOOL,
                findings,
                passed=outcomes.count("PASS"),
                failed=len(findings),
                skipped=outcomes.count("SKIP"),
                empty=not outcomes,
            )
        passed = sum(word == "ok" for word, _ in self.packages.values())
        failed = max(sum(word == "FAIL" for word, _ in self.packages.values()), bool(findings))
        result = runner_result(TOOL, findings, passed=passed, empty=not self.packages)
        # failing tests are counted by package here, as the passing ones are
        return result if result.no_tests else replace(result, failed=failed, total=passed + failed)

    def _packages(self, explained: set[str]) -> list[Finding]:
        """Packages that failed for a reason other than one of their tests."""
        findings = [finding for each in self.builds.values() for finding in each]
        built = {name.removesuffix(".test").removesuffix("_test") for name in self.builds}
        for name, (word, said) in self.packages.items():
            if word == "FAIL" and name not in explained and not (name in built and "failed]" in said):
                findings.append(finding_about(name, said if " " in said else "The package failed."))
        return findings


def _above(tests: Iterable[tuple[str, str]]) -> set[tuple[str, str]]:
    """The tests that these are subtests of, on every level; a subtest's own name may have slashes, too."""
    return {(package, name[: slash.start()]) for package, name in tests for slash in re.finditer("/", name)}
