"""prove, Perl's harness: a line for each file, a report of those that failed, `Files=3, Tests=5`."""

from __future__ import annotations

from collections.abc import Sequence

from untilgreen.core.values.model import Finding
from untilgreen.gates.output.parsers.findings import finding_about, runner_result
from untilgreen.gates.output.tool_result import ToolResult
from untilgreen.regex import regex

TOOL = "prove"
_COUNTS = regex(r"Files=(\d{1,9}), Tests=(\d{1,9}), ")
_FILE = regex(r"(\S.{0,500}?) +\(Wstat: .{1,60} Tests: \d{1,9} Failed: (\d{1,9})\)$")
_NUMBERS = regex(r" {2}Failed tests?: {1,2}([\d, -]{1,500})$")
_WHY = regex(r" {2}(?:Non-zero exit status|Non-zero wait status|Parse errors): (.{1,500})$")
_DIAGNOSIS = regex(r"# {3}Failed test (?:'(.{1,500})'|.{0,20})$")
_AT = regex(r"# {3}at (\S{1,500}) line (\d{1,7})\.$")


def read(lines: Sequence[str]) -> ToolResult | None:
    """What prove says in these lines; None if it did not print them."""
    total = failed = 0
    known = False
    bad: dict[str, list[str]] = {}
    file = ""
    for line in lines:
        if (counts := _COUNTS.match(line)) is not None:
            known, total = True, total + int(counts[2])
        elif (entry := _FILE.match(line)) is not None:
            file = entry[1]
            failed += int(entry[2])
            bad[file] = []
        elif file and (_NUMBERS.match(line) or _WHY.match(line)):
            bad[file].append(line.strip())
    if not known:
        return None
    named = _named(lines)
    findings: list[Finding] = [finding for each in named.values() for finding in each]
    findings += [finding_about(file, "\n".join(why), file) for file, why in bad.items() if file not in named]
    failed = max(failed, len(findings))
    return runner_result(
        TOOL, findings, passed=max(total - failed, 0), failed=failed, total=total, empty=not total
    )


def _named(lines: Sequence[str]) -> dict[str, list[Finding]]:
    """Tests that Test::More itself names, by file."""
    found: dict[str, list[Finding]] = {}
    for number, line in enumerate(lines[:-1]):
        test = _DIAGNOSIS.match(line)
        at = _AT.match(lines[number + 1]) if test else None
        if test and at:
            said = [each.lstrip("# ") for each in lines[number + 2 : number + 4] if ": " in each]
            name = f"{at[1]}: {test[1]}" if test[1] else f"{at[1]}: line {at[2]}"
            found.setdefault(at[1], []).append(finding_about(name, "\n".join(said), at[1], int(at[2])))
    return found
