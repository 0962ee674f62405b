"""swift test: `Test Case 'A.testB' failed`, or `✘ Test "x" failed` of Swift Testing."""

from __future__ import annotations

from collections.abc import Sequence

from untilgreen.core.values.model import Finding
from untilgreen.gates.output.parsers.findings import finding_about, runner_result
from untilgreen.gates.output.tool_result import ToolResult
from untilgreen.regex import regex

TOOL = "swift"
_CASE = regex(r"Test Case '(?:-\[)?(\S{1,300}?)[ .](\S{1,300}?)\]?' (passed|failed|skipped) \(")
_ERROR = regex(
    r"(\S{1,500}\.swift):(\d{1,7}):(?:\d{1,5}:)? error: (?:-\[)?(\S{1,300}[ .]\S{1,300}?)\]? : (.*)$"
)
_COUNTS = regex(
    r"\s{0,9}Executed (\d{1,9}) tests?, with (?:(\d{1,9}) tests? skipped and )?(\d{1,9}) failures? "
)
_NEW_TEST = regex(
    r"[✘✗✔✓×􀢄􁁛] {1,2}Test (\"[^\"]{1,300}\"|\S{1,300}\(.{0,100}\))"
    r"(?: with \d{1,9} test cases?)? (passed|failed) after "
)
_NEW_ISSUE = regex(
    r"[✘✗×􀢄] {1,2}Test (\"[^\"]{1,300}\"|\S{1,300}\(.{0,100}\)) recorded an issue(?: with .{1,300}?)? at "
    r"(\S{1,500}):(\d{1,7}):\d{1,5}: (.*)$"
)


def read(lines: Sequence[str]) -> ToolResult | None:
    """What swift's test runners say in these lines; None if neither printed them."""
    outcomes: dict[str, str] = {}
    said: dict[str, tuple[str, str, int]] = {}
    executed, known = 0, False
    for line in lines:
        if (case := _CASE.match(line)) is not None:
            outcomes[f"{case[1]}.{case[2]}"] = case[3]
        elif (error := _ERROR.match(line)) is not None:
            said.setdefault(error[3].replace(" ", "."), (error[4], error[1], int(error[2])))
        elif (issue := _NEW_ISSUE.match(line)) is not None:
            said.setdefault(issue[1].strip('"'), (issue[4], issue[2], int(issue[3])))
        elif (test := _NEW_TEST.match(line)) is not None:
            outcomes[test[1].strip('"')] = test[2]
        elif (counts := _COUNTS.match(line)) is not None:
            executed, known = max(executed, int(counts[1])), True
    if not (outcomes or known):
        return None
    findings: list[Finding] = [
        finding_about(name, *said.get(name, ("failed", None, None)))
        for name, word in outcomes.items()
        if word == "failed"
    ]
    words = list(outcomes.values())
    return runner_result(
        TOOL,
        findings,
        passed=words.count("passed"),
        failed=words.count("failed"),
        skipped=words.count("skipped"),
        total=executed,
        empty=not executed,
    )
