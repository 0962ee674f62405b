"""cargo test: `test name ... FAILED`, a block for each failure, a line of counts for each target."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from untilgreen.core.model import Finding
from untilgreen.gates.recognise.shape import counts_in, named, tallied
from untilgreen.gates.seen import Seen

TOOL = "cargo-test"
_TARGET = re.compile(r"\s{1,12}(?:Running (?:unittests )?|(Doc-tests) )(\S{1,300})(?: \(.*\))?$")
_RUNNING = re.compile(r"running (\d{1,9}) tests?$")
_RESULT = re.compile(r"test result: (?:ok|FAILED)\. (\d{1,9} passed; \d{1,9} failed; .*)$")
_BLOCK = re.compile(r"---- (\S.{0,500}) stdout ----$")
_PANIC = re.compile(r"thread '.{1,500}' (?:\(\d{1,20}\) )?panicked at (.{1,1000})$")
_PLACE = re.compile(r"(?:'(.*)', )?([^\s:]{1,300}):(\d{1,7}):\d{1,7}:?$")
_VARIES = re.compile(r" \(line \d{1,7}\)(?: - compile(?: fail)?)?$| - should panic$| - compile(?: fail)?$")
_CRASH = "process didn't exit successfully: "


@dataclass
class _Account:
    target: str = ""
    results: int = 0
    unfinished: bool = False
    counts: dict[str, int] = field(default_factory=dict)
    red: dict[str, Finding] = field(default_factory=dict)
    crash: str = ""

    def key(self, name: str) -> str:
        plain = _VARIES.sub("", name)
        return f"{self.target}: {plain}" if self.target else plain


def read(lines: Sequence[str]) -> Seen | None:
    """What cargo's tests say in these lines; None where they did not print them."""
    account = _Account()
    for number, line in enumerate(lines):
        if (target := _TARGET.match(line)) is not None:
            account.target = " ".join(filter(None, target.groups()))
        elif _RUNNING.match(line):
            _unfinished(account)
            account.unfinished = True
        elif line.startswith("test "):
            _test_line(account, line)
        elif (block := _BLOCK.match(line)) is not None:
            key = account.key(block[1])
            account.red[key] = _explained(key, lines[number + 1 : number + 20])
        elif _CRASH in line:
            account.crash = line[line.index(_CRASH) + len(_CRASH) :].rpartition("` ")[2]
    _unfinished(account)
    if not (account.results or account.red or account.unfinished):
        return None
    counts = account.counts
    return tallied(
        TOOL,
        account.red.values(),
        passed=counts.get("passed", 0),
        failed=counts.get("failed", 0),
        skipped=counts.get("ignored", 0),
        empty=True,
    )


def _test_line(account: _Account, line: str) -> None:
    if (result := _RESULT.match(line)) is not None:
        account.results, account.unfinished = account.results + 1, False
        for word, number in counts_in(result[1]).items():
            account.counts[word] = account.counts.get(word, 0) + number
    elif line.endswith("FAILED") and " ... " in line:
        key = account.key(line.removeprefix("test ").partition(" ... ")[0])
        account.red.setdefault(key, named(key, "failed"))


def _unfinished(account: _Account) -> None:
    """A target that began and never counted has died on the way."""
    if account.unfinished:
        key = f"{account.target or 'tests'}: did not finish"
        account.red.setdefault(key, named(key, account.crash or "The tests ended before they were counted."))


def _explained(key: str, lines: Sequence[str]) -> Finding:
    for number, line in enumerate(lines):
        if line.startswith(("---- ", "failures:")):
            break
        if (panic := _PANIC.match(line)) is None:
            continue
        place = _PLACE.match(panic[1])
        said = place[1] if place and place[1] else "\n".join(lines[number + 1 : number + 4])
        said = said.partition("\nnote: ")[0].partition("\nstack backtrace:")[0]
        return named(key, said, place[2] if place else None, int(place[3]) if place else None)
    said = next((line for line in lines if line and not line.startswith("---- ")), "failed")
    return named(key, said)
