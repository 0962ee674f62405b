"""go test, as people read it: `--- FAIL: TestX`, then a line for each package."""

from __future__ import annotations

import re
from collections.abc import Sequence

from untilgreen.core.model import Finding
from untilgreen.gates.recognise import gotest_json
from untilgreen.gates.recognise.gotest_account import TOOL, Account
from untilgreen.gates.recognise.shape import linted, placed
from untilgreen.gates.seen import Seen

_OUTCOME = re.compile(r" {0,200}--- (PASS|FAIL|SKIP): (\S{1,500}) \(\d{1,9}(?:\.\d{1,9})?s\)$")
_SUMMED_UP = re.compile(r"=== (FAIL|SKIP): (\S{1,500}) (\S{1,500}) \(\d{1,9}(?:\.\d{1,9})?s\)$")
"""As gotestsum repeats what failed; a package of its own module is a path from there."""
_HANGING = re.compile(r"\t\t(Test\S{1,500}) \(\S{1,30}\)$")
_RUN = re.compile(r"=== (?:RUN|CONT|NAME) {2,3}(\S{1,500})$")
_PACKAGE = re.compile(r"(ok {2}|FAIL|\?   )\t(\S{1,500})(?:[\t ](.*))?$")
_BUILDING = re.compile(r"# (\S{1,500})(?: \[\S{1,500}\])?$")
_PLACE = re.compile(r"\s{0,40}(?:vet: )?((?:\.{0,2}/)?[^\s:]{1,300}\.go):(\d{1,7})(?::\d{1,5})?: (\S.*)$")
_LINTER = re.compile(r"\([a-z][a-z0-9-]{1,30}\)$")


def read(lines: Sequence[str]) -> Seen | None:
    """What go test says in these lines; None where it did not print them."""
    if (events := gotest_json.read(lines)) is not None:
        return events
    reader = _Reader()
    for line in lines:
        if line:
            reader.line(line)
    reader.end()
    if reader.account.known:
        return reader.account.seen()
    return _only_places(reader.places)


class _Reader:
    """Goes through the lines once; a package is named after its tests."""

    def __init__(self) -> None:
        self.account = Account()
        self.running = ""
        self.building = ""
        self.package = ""
        self.pending: list[tuple[str, str]] = []
        self.places: list[re.Match[str]] = []
        self.said: dict[str, str] = {}
        self.trouble = ""

    def line(self, line: str) -> None:
        if (outcome := _OUTCOME.match(line)) is not None:
            self.running = outcome[2]
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
        elif (building := _BUILDING.match(line)) is not None:
            self.building = building[1]
        elif line.startswith(("panic: ", "fatal error: ", "WARNING: DATA RACE")):
            self.trouble = self.trouble or line
        elif line == "testing: warning: no tests to run":
            self.account.known = True

    def _place(self, place: re.Match[str]) -> None:
        self.places.append(place)
        if (self.package, self.running) in self.account.tests:
            self.account.test(self.package, self.running, "FAIL", place[0].strip())
        elif self.running:
            self.said.setdefault(self.running, place[0].strip())
        elif self.building:
            self.account.broken(self.building, placed(place[1], int(place[2]), place[3]))

    def _package(self, word: str, name: str, rest: str) -> None:
        for test, outcome in self.pending:
            self.account.test(name, test, outcome, self.said.get(test) or self.trouble)
        self.account.package(name, word, rest, self.trouble)
        self.pending, self.said, self.running, self.building, self.trouble = [], {}, "", "", ""

    def end(self) -> None:
        """Tests whose package was never named."""
        for test, outcome in self.pending:
            self.account.test("", test, outcome, self.said.get(test) or self.trouble)


def _only_places(places: Sequence[re.Match[str]]) -> Seen | None:
    """Cut-out words of the compiler or of a test, all about tests of one package and from no linter."""
    if not places or any("_test.go" not in place[1] or _LINTER.search(place[3]) for place in places):
        return None
    findings: list[Finding] = [placed(place[1], int(place[2]), place[3]) for place in places]
    return linted(TOOL, findings)
