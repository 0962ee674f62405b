"""Which tests stayed green with every assertion reversed, although they fail on the untouched tree."""

from __future__ import annotations

import re
from collections.abc import Collection

from untilgreen.core.values.model import Verdict
from untilgreen.gates.integrity.opposite_assertions import CANARY, Asked, asked_in
from untilgreen.gates.integrity.wrong_values import EQUAL


def all_red(verdict: Verdict) -> bool:
    """Whether no test passed, so that there is nothing to compare."""
    passed = sum(tool.passed for tool in verdict.tools)
    return verdict.status != "pass" and _to_the_end(verdict) and not passed and EQUAL not in _said(verdict)


def unasked(
    verdict: Verdict, control: Verdict | None, baseline: Verdict, texts: Collection[str], *, loaded: bool
) -> list[str]:
    """The ids of tests that must be red and are not.

    `control` is the verdict on the untouched tree with the same tests; `texts` are those in Python. `loaded`
    says that the gate loads them: then it must not be all green, even if the untouched tree could not.
    """
    green = verdict.status == "pass"
    if not green and not _to_the_end(verdict):
        return []
    red, before, known = _ids(verdict), _ids(control) if control is not None else set[str](), _ids(baseline)
    surely, perhaps = _asked(texts)
    missing = sorted(
        name
        for name in before - red
        if _is_canary(name) or (_last(name) in surely if name in known else _last(name) not in perhaps)
    )
    if control is not None and EQUAL in _said(verdict) and EQUAL not in _said(control):
        return missing or [EQUAL]
    if missing or not green or before - known:
        return missing
    judged = any(tool.total for tool in verdict.tools) and not any(tool.skipped for tool in verdict.tools)
    return sorted(known) if loaded and judged else []


def _to_the_end(verdict: Verdict) -> bool:
    """Whether every test ran, and each failure is named."""
    tools = [tool for tool in verdict.tools if tool.total]
    return not verdict.more and all(tool.passed + tool.failed == tool.total for tool in tools) and bool(tools)


def _asked(texts: Collection[str]) -> Asked:
    """The tests of all files; a name that two of them have counts as the less certain one."""
    found = [asked_in(text) for text in texts]
    perhaps = frozenset[str]().union(*(each.perhaps for each in found))
    return Asked(frozenset[str]().union(*(each.surely for each in found)) - perhaps, perhaps)


def _ids(verdict: Verdict) -> set[str]:
    return {finding.id for finding in verdict.findings}


def _last(name: str) -> str:
    """The name of the function, without its parameters."""
    return re.split(r"::|\.", name.partition("[")[0])[-1].split(" ")[0]


def _is_canary(name: str) -> bool:
    return any(word in name for word in CANARY)


def _said(verdict: Verdict) -> str:
    return " ".join((verdict.excerpt, *(finding.message for finding in verdict.findings)))
