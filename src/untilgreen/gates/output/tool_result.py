"""What one run of a tool reported: counts, and findings whose ids stay the same from lap to lap."""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec import Struct

from untilgreen.core.values.model import Finding
from untilgreen.regex import regex

MOST_FINDINGS = 10_000
LONGEST_ID = 1_000
LONGEST_MESSAGE = 1_000
MOST_LINES = 5
NO_TESTS = "no-tests"

_ADDRESS = regex(r"(?<= at )0x[0-9a-fA-F]{5,16}\b|(?<=:)0x[0-9a-fA-F]{8,16}\b|(?<=\w@)[0-9a-f]{6,16}\b")
_TEMPORARY = regex(r"(?:/private)?/(?:tmp|var/tmp|var/folders)/[^\s'\",;:()\[\]<>|]*")
_DURATION = regex(r" [(\[]\d{1,9}(?:\.\d{1,9})? ?(?:ms|s|sec|seconds)[)\]]$")


class ToolResult(Struct, frozen=True, kw_only=True):
    """One run of a tool: its findings, and how many tests passed, failed and were skipped."""

    tool: str
    findings: tuple[Finding, ...] = ()
    passed: int = 0
    failed: int = 0
    """Failed tests, or a linter's errors if its output shows for certain that they are its own."""
    skipped: int = 0
    total: int = 0
    """All tests it knew of, including those it never reached; 0 if it does not count tests."""
    no_tests: bool = False
    """Whether it was a test run with nothing to run."""
    uncounted: bool = False
    """Whether tests ran to the end with a tool that says how many only when one fails."""

    @property
    def counts(self) -> bool:
        """Whether it counted tests, or its own errors, or found nothing wrong."""
        return bool(self.total or self.failed or not self.findings)

    @property
    def countable(self) -> int:
        """Tests that could have passed."""
        return max(self.total - self.skipped, 0)

    @property
    def score(self) -> float:
        """The part of the tests that passed, skipped ones left out, from 0 to 1."""
        return min(self.passed / self.countable, 1.0) if self.countable else 0.0


class BadReport(Exception):
    """A report that is missing, stale, out of place, too large or not what its name says.

    The message follows the report's name in a sentence.
    """


def stable_name(name: str) -> str:
    """A name without what changes from run to run: addresses, temporary directories, durations."""
    name = name.strip()[:LONGEST_ID]
    if "0x" in name or "@" in name:
        name = _ADDRESS.sub("*", name)
    if "/tmp/" in name or "/folders/" in name:
        name = _TEMPORARY.sub(_without_directories, name)
    return _DURATION.sub("", name) if ")" in name or "]" in name else name


def _without_directories(match: re.Match[str]) -> str:
    _, _, rest = match[0].partition("/tmp/") if "/tmp/" in match[0] else match[0].partition("/folders/")
    inside, _, last = rest.rpartition("/")
    return f"<tmp>/{last}" if inside and last else "<tmp>"


def first_lines(text: str) -> str:
    """The first lines that are not blank."""
    if text.isprintable():  # so it is one line
        return text[: 4 * LONGEST_MESSAGE].rstrip()[:LONGEST_MESSAGE].strip()
    lines = (line.rstrip() for line in text[: 4 * LONGEST_MESSAGE].splitlines())
    return "\n".join([line for line in lines if line][:MOST_LINES])[:LONGEST_MESSAGE].strip()


def distinct(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The first finding for each id, up to a number that nobody would read."""
    by_id: dict[str, Finding] = {}
    for finding in findings:
        if len(by_id) == MOST_FINDINGS:
            break
        if finding.id:
            by_id.setdefault(finding.id, finding)
    return tuple(by_id.values())


def no_tests(tool: str) -> Finding:
    """The finding about a test run that ran nothing."""
    message = f"{tool} found no tests to run. Check the paths and filters of the command."
    return Finding(id=NO_TESTS, message=message)
