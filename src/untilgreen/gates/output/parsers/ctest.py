"""ctest: `2/3 Test #2: name ....***Failed`, and a percentage at the end."""

from __future__ import annotations

from collections.abc import Sequence

from untilgreen.core.values.model import Finding
from untilgreen.gates.output.parsers.findings import finding_about, paragraph, runner_result
from untilgreen.gates.output.tool_result import ToolResult
from untilgreen.regex import regex

TOOL = "ctest"
_OUTCOME = regex(
    r"\s{0,9}\d{1,9}/\d{1,9} (?:Memcheck|Test) {1,9}#\d{1,9}: (\S.{0,500}?)(?<!\.) ?\.{2,200}+ ?"
    r"(?: {0,9}(Passed)|\*{3}([A-Z].{0,60}?)) {1,30}\d{1,9}\.\d{1,3} sec"
)
_TOTAL = regex(r"\d{1,3}% tests passed, (\d{1,9}) tests? failed out of (\d{1,9})$")
_LISTED = regex(r"\s{1,12}\d{1,9} - (\S.{0,500}) \(([A-Z][^()]{0,60})\)")
_EMPTY = "No tests were found!!!"
_FAILED = "The following tests FAILED:"
_NEXT = regex(r"\s{1,12}Start {1,9}\d|test \d{1,9}$|\d{1,3}% tests passed, |\s{0,9}\d{1,9}/\d{1,9} ")
_UNITY_FAILURE = regex(r":\d{1,7}:\w{1,200}:FAIL\b")
"""A failed test of the C framework Unity, which prints passing ones the same way."""
_MOST_LINES = 2_000
_SKIPPED = ("Skipped", "Disabled", "Not Run (Disabled)")


def read(lines: Sequence[str]) -> ToolResult | None:
    """What ctest says in these lines; None if it did not print them."""
    outcomes: dict[str, tuple[str, str]] = {}
    listed: dict[str, str] = {}
    failed = total = 0
    known = listing = empty = False
    for number, line in enumerate(lines):
        if (outcome := _OUTCOME.match(line)) is not None:
            name, word = outcome[1], outcome[2] or outcome[3].strip()
            outcomes[name] = (word, _printed(lines, number, outcome[0]))
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
) -> ToolResult:
    red = {name: word for name, (word, _) in outcomes.items() if word != "Passed" and not _is_skipped(word)}
    findings: list[Finding] = [
        finding_about(name, f"{word}\n{outcomes.get(name, ('', ''))[1]}")
        for name, word in (red | listed).items()
    ]
    skipped = sum(_is_skipped(word) for word, _ in outcomes.values())
    passed = sum(word == "Passed" for word, _ in outcomes.values())
    if not outcomes:
        passed = max(total - failed, 0)
    return runner_result(
        TOOL, findings, passed=passed, failed=failed, skipped=skipped, total=total, empty=empty
    )


def _is_skipped(word: str) -> bool:
    return word.startswith(_SKIPPED)


def _printed(lines: Sequence[str], number: int, outcome: str) -> str:
    """The output that explains a test's outcome: printed before it with `-V`, else after it."""
    verbose = f"{outcome.partition('#')[2].partition(':')[0]}: "
    first = number
    while first and lines[first - 1].startswith(verbose.rstrip()) and number - first < _MOST_LINES:
        first -= 1
    if first < number:
        printed = [line.removeprefix(verbose) for line in lines[first:number]]
    else:
        behind = lines[number + 1 : number + 1 + _MOST_LINES]
        end = next((at for at, line in enumerate(behind) if _NEXT.match(line)), len(behind))
        printed = list(behind[:end])
    failures = [line for line in printed if _UNITY_FAILURE.search(line)]
    return "\n".join(failures) or paragraph(printed, 0)
