"""swift test: `Test Case 'A.testB' failed`, or `✘ Test "x" failed` of Swift Testing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from untilgreen.core.values.model import Finding
from untilgreen.gates.output.parsers.findings import finding_about, runner_result
from untilgreen.gates.output.tool_result import ToolResult
from untilgreen.regex import regex

TOOL = "swift"
_CASE = regex(
    r"Test Case '(?:-\[)?(\S{1,300}?)[ .](\S{1,300}?)\]?' (started|passed|failed|skipped) (?:at|\()"
)
_ERROR = regex(
    r"(\S{1,500}\.swift):(\d{1,7}):(?:\d{1,5}:)? error: (?:-\[)?(\S{1,300}[ .]\S{1,300}?)\]? : (.*)$"
)
_FATAL = regex(r"(\S{1,500}\.swift):(\d{1,7}): ((?:Fatal|Precondition|Assertion)\b.*)$")
_COUNTS = regex(
    r"\s{0,9}Executed (\d{1,9}) tests?, with (?:(\d{1,9}) tests? skipped and )?(\d{1,9}) failures? "
)
_PARALLEL = regex(r"\[(\d{1,9})/(\d{1,9})\] Testing \S{1,500}/\S{1,500}$")
"""With `--parallel`, all that is printed about a test that passes."""
_NEW_NAME = r"(\"[^\"]{1,300}\"|\S{1,300}\(.{0,100}\))"
_NEW_START = regex(rf"[◇􀟈] {{1,2}}Test {_NEW_NAME} started\.$")
_NEW_TEST = regex(
    rf"[✘✗✔✓×􀢄􁁛] {{1,2}}Test {_NEW_NAME}(?: with \d{{1,9}} test cases?)? (passed|failed) after "
)
_NEW_ISSUE = regex(
    rf"[✘✗×􀢄] {{1,2}}Test {_NEW_NAME} recorded an issue(?: with .{{1,300}}?)? at "
    r"(\S{1,500}):(\d{1,7}):\d{1,5}: (.*)$"
)
_RED = frozenset({"failed", "started"})
_UNFINISHED = "It was started, and swift ended before it was done."


@dataclass
class _Account:
    outcomes: dict[str, str] = field(default_factory=dict)
    """The last word about each test: `started` if it ended the process."""
    said: dict[str, tuple[str, str, int]] = field(default_factory=dict)
    fatal: tuple[str, str, int] | None = None
    executed: int = 0
    known: bool = False
    begun: int = 0
    planned: int = 0
    """For tests that run in parallel: the number of the last one named, and how many there are."""

    def line(self, line: str) -> None:
        if (case := _CASE.match(line)) is not None:
            self.outcomes[f"{case[1]}.{case[2]}"] = case[3]
        elif (error := _ERROR.match(line)) is not None:
            self.said.setdefault(error[3].replace(" ", "."), (error[4], error[1], int(error[2])))
        elif (fatal := _FATAL.match(line)) is not None:
            self.fatal = (fatal[3], fatal[1], int(fatal[2]))
        elif (issue := _NEW_ISSUE.match(line)) is not None:
            self.said.setdefault(issue[1].strip('"'), (issue[4], issue[2], int(issue[3])))
        elif (test := _NEW_TEST.match(line)) is not None:
            self.outcomes[test[1].strip('"')] = test[2]
        elif (started := _NEW_START.match(line)) is not None:
            self.outcomes.setdefault(started[1].strip('"'), "started")
        elif (counts := _COUNTS.match(line)) is not None:
            self.executed, self.known = max(self.executed, int(counts[1])), True
        elif (parallel := _PARALLEL.match(line)) is not None:
            self.begun, self.planned = int(parallel[1]), int(parallel[2])

    def finding(self, name: str) -> Finding:
        if self.outcomes[name] == "started":
            return finding_about(name, *(self.fatal or (_UNFINISHED, None, None)))
        return finding_about(name, *self.said.get(name, ("failed", None, None)))


def read(lines: Sequence[str]) -> ToolResult | None:
    """What swift's test runners say in these lines; None if neither printed them."""
    account = _Account()
    for line in lines:
        account.line(line)
    if not (account.outcomes or account.known or account.planned):
        return None
    words = list(account.outcomes.values())
    red = [name for name, word in account.outcomes.items() if word in _RED]
    findings = [account.finding(name) for name in red]
    if account.begun < account.planned:
        said = f"{account.planned} tests were planned, {account.begun} ran."
        findings.append(finding_about("unfinished", said))
    return runner_result(
        TOOL,
        findings,
        passed=max(words.count("passed"), account.begun - len(red)),
        failed=len(red),
        skipped=words.count("skipped"),
        total=max(account.executed, account.planned),
        empty=not account.executed,
    )
