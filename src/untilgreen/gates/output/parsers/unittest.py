"""unittest, and Django's runner on top of it: headers name what failed, `Ran N tests` ends a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from untilgreen.core.values.model import Finding
from untilgreen.gates.output.parsers.findings import finding_about
from untilgreen.gates.output.tool_result import ToolResult, distinct, no_tests, stable_name
from untilgreen.regex import regex

_HEADER = regex(r"(FAIL|ERROR|UNEXPECTED SUCCESS): (\S.*)$")
_TEST = regex(r"(\S+) \(([^\s()]+)\)(?: ([\[(].*))?$")
_RAN = regex(r"Ran (\d{1,9}) tests? in \d+\.\d+s$")
_RESULT = regex(r"(?:OK|FAILED|NO TESTS RAN)(?: \(([a-z =,\d]{1,200})\))?$")
_FRAME = regex(r'  File "([^"]{1,1000})", line (\d{1,7}), in (\S+)')
_CHAINED = ("Traceback (most recent call last):", "During handling of ", "The above exception was ")
_DOCTEST = "AssertionError: Failed doctest test for "
_RED = frozenset({"FAIL", "ERROR", "unexpected success"})
_GREEN = frozenset({"ok"})
_NEITHER = ("skipped", "expected failure")
_AROUND_TESTS = ("setUpClass", "tearDownClass", "setUpModule", "tearDownModule")
_SHORTEST_BAR = 60


@dataclass
class _Block:
    """One failure and its traceback."""

    test: str
    part: str = ""
    unexpected: bool = False
    place: tuple[str, int] | None = None
    in_test: bool = False
    said: str = ""

    def add(self, line: str, before: str) -> None:
        """The last line after a frame is the error; chained errors come in the order they happened."""
        if frame := _FRAME.match(line):
            mine = frame[3] == self.test.rpartition(".")[2]
            if mine or not self.in_test:
                self.place, self.in_test = (frame[1], int(frame[2])), mine
        elif self.said.startswith(_DOCTEST):
            if line.strip() and not line.startswith(("---", "  File ", "File ")):
                self.said += f"\n{line.strip()}"
        elif (
            line and line[0] != " " and not line.startswith(_CHAINED) and (not self.said or before[:1] == " ")
        ):
            self.said = line

    def finding(self) -> Finding:
        file, line = self.place or (None, None)
        said = self.said
        if said.startswith(_DOCTEST):
            said = " ".join(said.splitlines()[1:]) or said
        return finding_about(f"{self.test} {self.part}", said, file, line)


@dataclass
class _Account:
    """What was seen so far; an output may hold several runs."""

    runs: int = 0
    ran: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    blocks: list[_Block] = field(default_factory=list)
    outcomes: dict[str, str] = field(default_factory=dict)
    running: str = ""


def read(lines: Sequence[str]) -> ToolResult | None:
    """What unittest says in these lines; None if it did not print them."""
    account = _Account()
    open_block: _Block | None = None
    before = ""
    for number, line in enumerate(lines):
        if not line:
            continue
        if _is_bar(line, "=") and (block := _header(lines, number + 1)):
            open_block = block
            account.blocks.append(block)
        elif ran := _RAN.match(line):
            account.runs, account.ran, open_block = account.runs + 1, account.ran + int(ran[1]), None
        elif account.runs and (result := _RESULT.match(line)):
            _count(account, result[1] or "")
        elif open_block is None:
            _progress(account, line, before)
        elif not _HEADER.match(line) and not _is_bar(line, "-"):
            open_block.add(line, before)
        before = line
    return _seen(account)


def _is_bar(line: str, sign: str) -> bool:
    return line.startswith(sign * _SHORTEST_BAR) and not line.strip(sign)


def _header(lines: Sequence[str], number: int) -> _Block | None:
    """`FAIL: test_x (pkg.Class.test_x) (i=1)` below a bar, closed by another bar a few lines on."""
    match = _HEADER.match(lines[number]) if number < len(lines) else None
    if match is None or not any(_is_bar(line, "-") for line in lines[number + 1 : number + 6]):
        return None
    test, part = _named(match[2])
    unexpected = match[1] == "UNEXPECTED SUCCESS"
    said = "It passed, and was expected to fail." if unexpected else ""
    return _Block(test=test, part=part, unexpected=unexpected, said=said)


def _named(described: str) -> tuple[str, str]:
    """`pkg.Class.test_x` and the subtest; Python 3.10 leaves the method out of the brackets."""
    match = _TEST.match(described)
    if match is None:
        return described, ""
    name, where = match[1], match[2]
    full = where if where == name or where.endswith(f".{name}") else f"{where}.{name}"
    return full, match[3] or ""


def _count(account: _Account, said: str) -> None:
    for part in said.split(", "):
        name, _, number = part.partition("=")
        if number.isdecimal():
            account.counts[name] = account.counts.get(name, 0) + int(number)


def _progress(account: _Account, line: str, before: str) -> None:
    """`test_x (pkg.Class.test_x) ... FAIL`; a docstring may be on a line in between."""
    described, dots, outcome = line.partition(" ...")
    outcome = outcome.strip()
    described = described.strip()
    if not dots:
        return
    match = _TEST.match(described) or _TEST.match(before)
    if match is None:
        return
    test, part = _named(match[0])
    account.running = test
    if outcome in _RED | _GREEN or outcome.startswith(_NEITHER):
        account.outcomes[stable_name(f"{test} {part}")] = outcome
        account.running = ""


def _seen(account: _Account) -> ToolResult | None:
    if not (account.runs or account.blocks or account.outcomes):
        return None
    findings = list(_findings(account))
    counts = account.counts
    skipped = counts.get("skipped", 0) + counts.get("expected failures", 0)
    tests = {block.test for block in account.blocks}
    unnamed = counts.get("unexpected successes", 0) - sum(block.unexpected for block in account.blocks)
    failed = len(tests) or counts.get("failures", 0) + counts.get("errors", 0)
    failed += max(unnamed, 0)  # before Python 3.11 they are counted, not named
    around = sum(test.endswith(_AROUND_TESTS) for test in tests)
    total = account.ran + around
    passed = max(total - failed - skipped, 0)
    if not account.runs:
        outcomes = list(account.outcomes.values())
        passed = sum(outcome in _GREEN for outcome in outcomes)
        skipped = sum(outcome.startswith(_NEITHER) for outcome in outcomes)
        failed = failed or sum(outcome in _RED for outcome in outcomes)
    empty = bool(account.runs) and not (account.ran or failed or skipped)
    found = distinct(findings)
    failed = failed or len(found)
    return ToolResult(
        tool="unittest",
        findings=distinct([*found, no_tests("unittest")]) if empty else found,
        passed=passed,
        failed=failed,
        skipped=skipped,
        total=max(total, passed + failed + skipped),
        no_tests=empty,
    )


def _findings(account: _Account) -> Iterator[Finding]:
    yield from (block.finding() for block in account.blocks)
    if not account.blocks:
        red = [test for test, outcome in account.outcomes.items() if outcome in _RED]
        yield from (Finding(id=test, message="failed") for test in red)
    if account.running and not account.runs:
        message = "unittest ended here, before it reported its results."
        yield Finding(id=stable_name(account.running), message=message)
