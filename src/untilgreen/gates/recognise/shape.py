"""What the readers of tools share: a complaint about a place, an account of counted tests."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from untilgreen.core.fingerprint import normalise
from untilgreen.core.model import Finding
from untilgreen.gates.seen import Seen, distinct, gist, no_tests, steady

_COUNT = re.compile(r"(\d{1,9}) ([A-Za-z]{1,30})")


def placed(file: str, line: int | None, said: str, rule: str = "") -> Finding:
    """A complaint about a place; the same words about another line of the file are the same complaint."""
    words = normalise(said)
    told = " ".join(filter(None, (rule, words)))
    message = f"{rule}: {said}" if rule else said
    return Finding(id=steady(f"{file}: {told}"), message=gist(message), file=file, line=line)


def named(name: str, said: str = "", file: str | None = None, line: int | None = None) -> Finding:
    """A complaint about a test that has a name of its own."""
    return Finding(id=steady(name), message=gist(said), file=file, line=line)


def counts_in(line: str) -> dict[str, int]:
    """`2 failed, 3 passed` as numbers by word; of equal words the last one counts."""
    return {word: int(number) for number, word in _COUNT.findall(line)}


def tallied(
    tool: str,
    findings: Iterable[Finding],
    *,
    passed: int = 0,
    failed: int = 0,
    skipped: int = 0,
    total: int = 0,
    empty: bool = False,
) -> Seen:
    """The account of a test run; `empty` where the tool said itself that there was nothing to run."""
    found = distinct(findings)
    failed = max(failed, len(found))
    nothing = empty and not (found or passed or skipped)
    return Seen(
        tool=tool,
        findings=(no_tests(tool),) if nothing else found,
        passed=passed,
        failed=failed,
        skipped=skipped,
        total=max(total, passed + failed + skipped),
        no_tests=nothing,
    )


def linted(tool: str, errors: Iterable[Finding], warnings: Iterable[Finding] = ()) -> Seen:
    """The account of a tool that counts no tests; warnings only where there is nothing worse."""
    return Seen(tool=tool, findings=distinct(errors) or distinct(warnings))


def first_words(lines: Sequence[str], start: int, most: int = 20) -> str:
    """The first paragraph from a line on, up to a stack: that is where tools say why."""
    said: list[str] = []
    for line in lines[start : start + most]:
        words = line.strip()
        if said and (not words or words.startswith("at ")):
            break
        if words:
            said.append(words)
    return "\n".join(said)
