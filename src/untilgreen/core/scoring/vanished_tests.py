"""A pass that shows far fewer tests than its gate ever did is not believed: the tests may not have run.

Nor is one that skips tests which ran when the run began, if the tests themselves are the same.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from untilgreen.core.scoring.gate_scores import ToolRecords
from untilgreen.core.values.model import Finding, GateSpec, ToolCount, Verdict
from untilgreen.core.values.units import several

FEWER_TESTS = "fewer tests"
"""Prefix of the finding's id."""
SHARE = 0.5
"""A pass must show more than this share of the most tests that its gate showed before."""
SKIPPED_NOW = "skipped now"
FEWEST = 4
"""In a smaller suite, only a pass without any test is doubted."""


def doubt_vanished_tests(known: ToolRecords, gate: GateSpec, verdict: Verdict) -> Verdict:
    """The verdict as it is, or red with a finding for each tool whose tests vanished."""
    if verdict.status != "pass" or gate.options.get("believe") == "exit-code":
        return verdict
    findings = tuple(_vanished(known, verdict))
    return replace(verdict, status="fail", score=0.0, findings=findings) if findings else verdict


def doubt_skipped_tests(before: Verdict | None, gate: GateSpec, verdict: Verdict) -> Verdict:
    """The verdict as it is, or red if tests are skipped that ran before; `before` saw the same tests."""
    if verdict.status != "pass" or before is None or gate.options.get("allow_skipped"):
        return verdict
    known = {count.tool: count for count in before.tools if not count.uncounted}
    findings = tuple(
        Finding(
            id=f"{SKIPPED_NOW}: {count.tool}",
            message=f"exit code 0, but {several(count.skipped, 'test')} skipped by {count.tool}, where "
            f"{known[count.tool].skipped} were skipped before with the same tests. "
            "Run them, or set allow_skipped = true on the gate.",
        )
        for count in verdict.tools
        if count.tool in known and _are_skipped_now(known[count.tool], count)
    )
    return replace(verdict, status="fail", score=0.0, findings=findings) if findings else verdict


def _are_skipped_now(before: ToolCount, now: ToolCount) -> bool:
    """Whether more are skipped although there are no more tests: a module that loads now may add some."""
    return now.skipped > before.skipped and before.total + before.skipped >= now.total + now.skipped


def is_doubted(verdict: Verdict) -> bool:
    """Whether the gate passed and was not believed."""
    return verdict.status == "fail" and any(each.id.startswith(FEWER_TESTS) for each in verdict.findings)


def _vanished(known: ToolRecords, verdict: Verdict) -> Iterator[Finding]:
    shown = {count.tool: count for count in verdict.tools}
    if sum(count.total for count in shown.values()) > SHARE * sum(record.most for record in known.values()):
        return  # another tool may report the same tests now
    for tool, record in known.items():
        count = shown.get(tool)
        now = count.total if count else 0
        enough = now > SHARE * record.most or (now and record.most < FEWEST)
        if enough or not record.most or (count and count.uncounted):
            continue
        told = several(now, "test") if count else "no output from it"
        before = several(record.most, "test")
        yield Finding(
            id=f"{FEWER_TESTS}: {tool}",
            message=f"exit code 0, but {told}, where {tool} reported {before} before. "
            'Restore the tests, or set believe = "exit-code" on the gate if fewer are expected.',
        )
