"""ctest: `2/3 Test #2: name ....***Failed`, and a percentage at the end."""

from __future__ import annotations

import re
from collections.abc import Sequence

from untilgreen.core.model import Finding
from untilgreen.gates.recognise.shape import first_words, named, tallied
from untilgreen.gates.seen import Seen

TOOL = "ctest"
_OUTCOME = re.compile(
    r"\s{0,9}\d{1,9}/\d{1,9} (?:Memcheck|Test) {1,9}#\d{1,9}: (\S.{0,500}?)(?<!\.) ?\.{2,200}+ ?"
    r"(?: {0,9}(Passed)|\*{3}([A-Z].{0,60}?)) {1,30}\d{1,9}\.\d{1,3} sec"
)
_TOTAL = re.compile(r"\d{1,3}% tests passed, (\d{1,9}) tests? failed out of (\d{1,9})$")
_LISTED = re.compile(r"\s{1,12}\d{1,9} - (\S.{0,500}) \(([A-Z][^()]{0,60})\)")
_EMPTY = "No tests were found!!!"
_FAILED = "The following tests FAILED:"
_SKIPPED = ("Skipped", "Disabled", "Not Run (Disabled)")


def read(lines: Sequence[str]) -> Seen | None:
    """What ctest says in these lines; None where it did not print them."""
    outcomes: dict[str, tuple[str, str]] = {}
    listed: dict[str, str] = {}
    failed = total = 0
    known = listing = empty = False
    for number, line in enumerate(lines):
        if (outcome := _OUTCOME.match(line)) is not None:
            name, word = outcome[1], outcome[2] or outcome[3].strip()
            outcomes[name] = (word, first_words(lines, number + 1))
        elif (counted := _TOTAL.match(line)) is not None:
            known, failed, total = True, failed + int(counted[1]), total + int(counted[2])
        elif line == _EMPTY:
            known = empty = True
        elif line.startswith("The following tests "):
            listing = line == _FAILED
        elif listing and (entry := _LISTED.match(line)) is not None:
            listed[entry[1]] = entry[2]
    if not (known or outcomes or listed):
        return None
    return _account(outcomes, listed, failed, total, empty=empty)


def _account(
    outcomes: dict[str, tuple[str, str]], listed: dict[str, str], failed: int, total: int, *, empty: bool
) -> Seen:
    red = {name: word for name, (word, _) in outcomes.items() if word != "Passed" and not _is_skipped(word)}
    findings: list[Finding] = [
        named(name, f"{word}\n{_printed(outcomes, name)}") for name, word in (red | listed).items()
    ]
    skipped = sum(_is_skipped(word) for word, _ in outcomes.values())
    passed = sum(word == "Passed" for word, _ in outcomes.values())
    if not outcomes:
        passed = max(total - failed, 0)
    return tallied(TOOL, findings, passed=passed, failed=failed, skipped=skipped, total=total, empty=empty)


def _is_skipped(word: str) -> bool:
    return word.startswith(_SKIPPED)


def _printed(outcomes: dict[str, tuple[str, str]], name: str) -> str:
    """What the test printed, where ctest shows it."""
    said = outcomes.get(name, ("", ""))[1]
    return "" if said.startswith("Start ") or _TOTAL.match(said) else said
