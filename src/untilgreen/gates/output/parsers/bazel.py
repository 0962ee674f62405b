"""bazel test: `//pkg:name  FAILED in 1.2s`, and `ERROR: /path/BUILD:3:10: message`."""

from __future__ import annotations

from collections.abc import Sequence

from untilgreen.core.values.model import Finding
from untilgreen.gates.output.parsers.findings import finding_about, finding_at, linter_result, runner_result
from untilgreen.gates.output.tool_result import ToolResult
from untilgreen.regex import regex

TOOL = "bazel"
_TARGET = regex(
    r"(\S{0,200}//\S{1,300}) {2,200}(?:\(cached\) )?"
    r"(PASSED|FAILED TO BUILD|FAILED|TIMEOUT|FLAKY|NO STATUS)\b(.*)$"
)
_EXECUTED = regex(r"Executed \d{1,9} out of \d{1,9} tests?: ")
_ERROR = regex(r"ERROR: (\S{1,500}?):(\d{1,7}):\d{1,7}: (\S.*)$")
_PLAIN_ERROR = regex(r"ERROR: (\S.*)$")
_OWN = (
    "INFO: Build completed",
    "INFO: Analyzed ",
    *(f"{word}: Build did NOT complete" for word in ("ERROR", "FAILED")),
)
_EMPTY = "No test targets were found"
_GREEN = frozenset({"PASSED", "FLAKY"})


def read(lines: Sequence[str]) -> ToolResult | None:
    """What bazel says in these lines; None if it did not print them."""
    known = False
    targets: dict[str, tuple[str, str]] = {}
    errors: list[Finding] = []
    for line in lines:
        if "//" in line and (target := _TARGET.match(line)) is not None:
            targets[target[1]] = (target[2], f"{target[2]}{target[3]}".strip())
        elif line.startswith(_OWN) or _EXECUTED.match(line):
            known = True
        elif (error := _ERROR.match(line)) is not None:
            errors.append(finding_at(error[1], int(error[2]), error[3]))
        elif not errors and (plain := _PLAIN_ERROR.match(line)) is not None:
            errors.append(finding_about(plain[1], plain[1]))
    if not known:
        return None
    if not targets and any(finding.id.startswith(_EMPTY) for finding in errors):
        return runner_result(TOOL, [], empty=True)
    if not targets:
        return linter_result(TOOL, errors, certain=bool(errors))
    red = [finding_about(name, said) for name, (word, said) in targets.items() if word not in _GREEN]
    passed = sum(word in _GREEN for word, _ in targets.values())
    return runner_result(TOOL, [*red, *errors], passed=passed, failed=len(red))
