"""Knowing a tool by the structure of what it prints; a new tool is one module and one row here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from untilgreen.gates.recognise import located, pytest, unittest
from untilgreen.gates.seen import Seen
from untilgreen.gates.text import lines_of

Reader = Callable[[Sequence[str]], Seen | None]
"""Says what its tool tells in these lines, or None where its tool did not print them."""

TOOLS: Mapping[str, Reader] = {
    "pytest": pytest.read,
    "unittest": unittest.read,
}


def recognise(text: str) -> Seen | None:
    """What the output tells: the first tool that complains, else the one that counts most tests.

    Where no tool is known, complaints about places in files are still findings.
    """
    lines = lines_of(text)
    known = [seen for read in TOOLS.values() if (seen := read(lines)) is not None]
    if not known:
        return located.read(lines)
    complaining = (seen for seen in known if seen.findings and not seen.no_tests)
    return next(complaining, None) or max(known, key=lambda seen: seen.total)


def errors_in(text: str) -> Seen | None:
    """Complaints about places in files that are more than warnings, whoever printed them."""
    return located.read(lines_of(text), warnings=False)
