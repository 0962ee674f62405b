"""What a report or an output tells about a run of some tool, in ids that stay the same from lap to lap."""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec import Struct

from untilgreen.core.model import Finding

MOST_FINDINGS = 10_000
LONGEST_ID = 1_000
LONGEST_MESSAGE = 1_000
MOST_LINES = 5
NO_TESTS = "no-tests"

_ADDRESS = re.compile(r"(?<= at )0x[0-9a-fA-F]{5,16}\b|(?<=:)0x[0-9a-fA-F]{8,16}\b|(?<=\w@)[0-9a-f]{6,16}\b")
_TEMPORARY = re.compile(r"(?:/private)?/(?:tmp|var/tmp|var/folders)/[^\s'\",;:()\[\]<>|]*")
_DURATION = re.compile(r" [(\[]\d{1,9}(?:\.\d{1,9})? ?(?:ms|s|sec|seconds)[)\]]$")


class Seen(Struct, frozen=True, kw_only=True):
    """One tool's account of itself: its complaints, and how many tests came out how."""

    tool: str
    findings: tuple[Finding, ...] = ()
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    total: int = 0
    """All tests it knew of, those that it never reached included; 0 where it does not count tests."""
    no_tests: bool = False
    """It was a test run, and there was nothing to run."""

    @property
    def score(self) -> float:
        """Passed of those that could have passed, from 0 to 1."""
        counted = self.total - self.skipped
        return min(self.passed / counted, 1.0) if counted > 0 else 0.0


def steady(name: str) -> str:
    """A name without what changes from run to run: addresses, temporary directories, durations."""
    name = name.strip()[:LONGEST_ID]
    name = _ADDRESS.sub("*", name)
    name = _TEMPORARY.sub(_without_directories, name)
    return _DURATION.sub("", name)


def _without_directories(match: re.Match[str]) -> str:
    _, _, rest = match[0].partition("/tmp/") if "/tmp/" in match[0] else match[0].partition("/folders/")
    inside, _, last = rest.rpartition("/")
    return f"<tmp>/{last}" if inside and last else "<tmp>"


def gist(text: str) -> str:
    """The first lines that say something."""
    lines = (line.rstrip() for line in text[: 4 * LONGEST_MESSAGE].splitlines())
    return "\n".join([line for line in lines if line][:MOST_LINES])[:LONGEST_MESSAGE].strip()


def distinct(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """One finding for each id, the first that came, up to a number that nobody reads."""
    by_id: dict[str, Finding] = {}
    for finding in findings:
        if len(by_id) == MOST_FINDINGS:
            break
        if finding.id:
            by_id.setdefault(finding.id, finding)
    return tuple(by_id.values())


def no_tests(tool: str) -> Finding:
    """The complaint about a test run that ran nothing."""
    message = f"{tool} found no test to run. Check the paths and filters of the command."
    return Finding(id=NO_TESTS, message=message)
