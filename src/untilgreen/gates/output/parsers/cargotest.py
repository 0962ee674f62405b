"""cargo test: `test name ... FAILED`, a block for each failure, a line of counts for each target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from untilgreen.core.values.model import Finding
from untilgreen.gates.output.parsers.findings import counts_in, finding_about, runner_result
from untilgreen.gates.output.tool_result import ToolResult
from untilgreen.regex import regex

TOOL = "cargo-test"
_TARGET = regex(r"\s{1,12}(?:Running (?:unittests )?|(Doc-tests) )(\S{1,300})(?: \(.*\))?$")
_RUNNING = regex(r"running (\d{1,9}) tests?$")
_RESULT = regex(r"test result: (?:ok|FAILED)\. (\d{1,9} passed; \d{1,9} failed; .*)$")
_BLOCK = regex(r"---- (\S.{0,500}) stdout ----$")
_PANIC = regex(r"thread '.{1,500}' (?:\(\d{1,20}\) )?panicked at (.{1,1000})$")
_PANICKED = regex(r"thread '(.{1,500}?)' (?:\(\d{1,20}\) )?panicked at ")
_PLACE = regex(r"(?:'(.*)', )?([^\s:]{1,300}):(\d{1,7}):\d{1,7}:?$")
_VARIES = regex(r" \(line \d{1,7}\)(?: - compile(?: fail)?)?$| - should panic$| - compile(?: fail)?$")
_CRASH = "process didn't exit successfully: "


@dataclass
class _Account:
    target: str = ""
    results: int = 0
    unfinished: bool = False
    counts: dict[str, int] = field(default_factory=dict)
    red: dict[str, Finding] = field(default_factory=dict)
    crash: str = ""
    listing: bool = False
    """Whether the names of failed tests follow, which is all that `--nocapture` prints about them."""
    panics: dict[str, int] = field(default_factory=dict)
    """The line of each panic, by the name of its thread, which is that of its test."""

    def key(self, name: str) -> str:
        plain = _VARIES.sub("", name)
        return f"{self.target}: {plain}" if self.target else plain


def read(lines: Sequence[str]) -> ToolResult | None:
    """What cargo's tests say in these lines; None if they did not print them."""
    account = _Account()
    for number, line in enumerate(lines):
        account.listing = account.listing and line.startswith("    ")
        if (target := _TARGET.match(line)) is not None:
            _unfinished(account)
            account.unfinished = False
            account.target = " ".join(filter(None, target.groups()))
        elif _RUNNING.match(line):
            _unfinished(account)
            account.unfinished = True
        elif line.startswith("test "):
            _test_line(account, line)
        elif (block := _BLOCK.match(line)) is not None:
            key = account.key(block[1])
            account.red[key] = _explained(key, lines[number + 1 : number + 20])
        elif (panic := _PANICKED.match(line)) is not None:
            account.panics[panic[1]] = number
        elif line == "failures:":
            account.listing = True
        elif account.listing:
            _listed(account, line.strip(), lines)
        elif _CRASH in line:
            account.crash = line[line.index(_CRASH) + len(_CRASH) :].rpartition("` ")[2]
    _unfinished(account)
    if not (account.results or account.red or account.unfinished):
        return None
    counts = account.counts
    return runner_result(
        TOOL,
        account.red.values(),
        passed=counts.get("passed", 0),
        failed=counts.get("failed", 0),
        skipped=counts.get("ignored", 0),
        empty=True,
    )


def _listed(account: _Account, name: str, lines: Sequence[str]) -> None:
    key, at = account.key(name), account.panics.get(name)
    if key not in account.red:
        account.red[key] = (
            finding_about(key, "failed") if at is None else _explained(key, lines[at : at + 20])
        )


def _test_line(account: _Account, line: str) -> None:
    if (result := _RESULT.match(line)) is not None:
        account.results, account.unfinished = account.results + 1, False
        account.panics.clear()
        for word, number in counts_in(result[1]).items():
            account.counts[word] = account.counts.get(word, 0) + number
    elif line.endswith("FAILED") and " ... " in line:
        key = account.key(line.removeprefix("test ").partition(" ... ")[0])
        account.red.setdefault(key, finding_about(key, "failed"))


def _unfinished(account: _Account) -> None:
    """A target that began and printed no counts has crashed."""
    if account.unfinished:
        key = f"{account.target or 'tests'}: did not finish"
        account.red.setdefault(
            key, finding_about(key, account.crash or "The tests ended before they were counted.")
        )


def _explained(key: str, lines: Sequence[str]) -> Finding:
    for number, line in enumerate(lines):
        if line.startswith(("---- ", "failures:")):
            break
        if (panic := _PANIC.match(line)) is None:
            continue
        place = _PLACE.match(panic[1])
        said = place[1] if place and place[1] else "\n".join(lines[number + 1 : number + 4])
        said = said.partition("\nnote: ")[0].partition("\nstack backtrace:")[0]
        return finding_about(key, said, place[2] if place else None, int(place[3]) if place else None)
    said = next((line for line in lines if line and not line.startswith("---- ")), "failed")
    return finding_about(key, said)
