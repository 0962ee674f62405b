"""Tests and packages of a go run, whichever way they were told."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from untilgreen.core.model import Finding
from untilgreen.gates.recognise.shape import named, tallied
from untilgreen.gates.seen import Seen

TOOL = "go-test"
_EMPTY = ("[no test files]", "[no tests to run]")


def _above(tests: Iterable[tuple[str, str]]) -> set[tuple[str, str]]:
    """The tests that these are subtests of, on every level; a subtest's own name may have slashes, too."""
    return {(package, name[: slash.start()]) for package, name in tests for slash in re.finditer("/", name)}


@dataclass
class Account:
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
        """A complaint of the compiler."""
        self.builds.setdefault(package, []).append(finding)

    def package(self, name: str, word: str, rest: str, trouble: str) -> None:
        """`ok`, `FAIL` or `?`, and what stands behind the name."""
        self.known = True
        if word == "?" or rest.endswith(_EMPTY):
            self.empty.add(name)
        else:
            self.packages[name] = (word, trouble or rest)

    def seen(self) -> Seen:
        parents = _above(self.tests)
        red = {key for key, (outcome, _) in self.tests.items() if outcome == "FAIL"}
        blamed = _above(red)
        findings = [
            named(f"{package}.{name}" if package else name, self.tests[package, name][1])
            for package, name in self.tests
            if (package, name) in red and (package, name) not in blamed
        ]
        findings += self._packages({package for package, _ in red})
        outcomes = [
            outcome for key, (outcome, _) in self.tests.items() if key not in parents or key in red - blamed
        ]
        if self.verbose:
            return tallied(
                TOOL,
                findings,
                passed=outcomes.count("PASS"),
                failed=len(findings),
                skipped=outcomes.count("SKIP"),
                empty=not outcomes,
            )
        passed = sum(word == "ok" for word, _ in self.packages.values())
        failed = max(sum(word == "FAIL" for word, _ in self.packages.values()), bool(findings))
        seen = tallied(TOOL, findings, passed=passed, empty=not self.packages)
        if seen.no_tests:
            return seen
        return Seen(tool=TOOL, findings=seen.findings, passed=passed, failed=failed, total=passed + failed)

    def _packages(self, explained: set[str]) -> list[Finding]:
        """Packages that failed for another reason than a test of theirs."""
        findings = [finding for each in self.builds.values() for finding in each]
        built = {name.removesuffix(".test").removesuffix("_test") for name in self.builds}
        for name, (word, said) in self.packages.items():
            if word == "FAIL" and name not in explained and not (name in built and "failed]" in said):
                findings.append(named(name, said if " " in said else "The package failed."))
        return findings
