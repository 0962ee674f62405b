"""A gate's score, comparable between laps: tests that pass, out of the most it ever showed in this run.

A command may run several tools (`npm test && tsc`). Each is a part with its own score, and the gate's
score is their mean. A part that a lap did not reach keeps its earlier score.
A gate whose output nobody recognizes may still say how much is wrong ("7 errors left"); fewer are better.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from untilgreen.core.values.fingerprint import Count, counts
from untilgreen.core.values.model import ToolCount, Verdict
from untilgreen.core.values.state import Lap, ToolRecord

EARLIER = 50
"""How many laps to go back for a part that was not reached."""
MOST_FOR_RED = 0.999
"""A failing gate never scores 1, whatever it reports."""


class Rating(Struct, frozen=True, kw_only=True):
    """How far a gate got, from 0 to 1, and how much is still wrong."""

    score: float
    failures: int
    """Findings, or tests that did not pass if those are more: after a crash most of them did not run."""


ToolRecords = Mapping[str, ToolRecord]


def remembered(
    known: dict[str, dict[str, ToolRecord]], verdicts: Mapping[str, Verdict]
) -> dict[str, dict[str, ToolRecord]]:
    """The most that each tool of each gate has shown; the same object if these verdicts show nothing new."""
    grown = known
    for name, verdict in verdicts.items():
        for count in verdict.tools:
            before = grown.get(name, {}).get(count.tool)
            after = _record(before or ToolRecord(), count, verdict.tools)
            if after != before:
                grown = {**grown, name: {**grown.get(name, {}), count.tool: after}}
    return grown


def remembered_counts(
    known: dict[str, dict[str, int]], verdicts: Mapping[str, Verdict]
) -> dict[str, dict[str, int]]:
    """The most failures that each gate stated; the same object if these verdicts state nothing new."""
    grown = known
    for name, verdict in verdicts.items():
        if (count := _stated(verdict)) is None:
            continue
        before = grown.get(name, {})
        if count.words not in before or before[count.words] < count.number:
            grown = {**grown, name: {**before, count.words: round(count.number)}}
    return grown


def _stated(verdict: Verdict) -> Count | None:
    """The count of failures that an output without findings states, if it counts only one thing."""
    if verdict.status != "fail" or verdict.findings or verdict.tools:
        return None
    falling = [count for count in counts(verdict.excerpt) if count.falls]
    return falling[-1] if len({count.words for count in falling}) == 1 else None


def _record(before: ToolRecord, count: ToolCount, tools: Iterable[ToolCount]) -> ToolRecord:
    others = {each.tool for each in tools if each.tool != count.tool} if count.failed else set()
    return ToolRecord(
        most=max(before.most, count.total),
        most_failed=max(before.most_failed, count.failed),
        seen_passing=before.seen_passing or not count.failed,
        beside=tuple(sorted({*before.beside, *others})),
    )


def rate(
    name: str,
    verdict: Verdict | None,
    tools: ToolRecords,
    earlier: Sequence[Lap] = (),
    stated: Mapping[str, int] = {},
) -> Rating:
    """What one verdict is worth, given everything that its gate has shown; `earlier` are laps before it."""
    if verdict is None or verdict.status == "skip":
        return Rating(score=0.0, failures=0)
    if verdict.status == "pass":
        return Rating(score=1.0, failures=0)
    if verdict.status == "error" or (tools and not verdict.tools):
        worst = sum(max(record.most, record.most_failed) for record in tools.values())
        return Rating(score=0.0, failures=max(verdict.count, worst, *stated.values()))
    if not tools:
        failures = max(verdict.count, _left(verdict, stated))
        return Rating(score=min(max(verdict.score, 0.0), MOST_FOR_RED), failures=failures)
    return _mean([_part(name, tool, verdict, record, earlier) for tool, record in tools.items()], verdict)


def _left(verdict: Verdict, stated: Mapping[str, int]) -> int:
    """The failures that the output states: the most so far if it states none, 0 if its words vary."""
    if len(stated) != 1:
        return 0
    ((words, most),) = stated.items()
    count = _stated(verdict)
    return round(count.number) if count is not None and count.words == words else most


def _mean(parts: Sequence[Rating], verdict: Verdict) -> Rating:
    score = sum(part.score for part in parts) / len(parts)
    failures = max(sum(part.failures for part in parts), verdict.count)
    return Rating(score=min(score, MOST_FOR_RED), failures=failures)


def _part(name: str, tool: str, verdict: Verdict, record: ToolRecord, earlier: Sequence[Lap]) -> Rating:
    """One tool of the gate in one lap."""
    count = next((each for each in verdict.tools if each.tool == tool), None)
    if count is not None:
        return _counted(count, record)
    if record.most or record.seen_passing:  # it always prints, so it was not reached
        return _as_before(name, tool, record, earlier)
    red = {each.tool for each in verdict.tools if each.failed}
    if red <= set(record.beside):  # those come before it, and stopped the command
        return Rating(score=0.0, failures=0)
    return Rating(score=1.0, failures=0)  # it comes before what failed, and prints nothing when it passes


def _counted(count: ToolCount, record: ToolRecord) -> Rating:
    if not record.most:
        return Rating(score=0.0 if count.failed else 1.0, failures=count.failed)
    return Rating(
        score=min(count.passed / record.most, 1.0), failures=max(record.most - count.passed, count.failed)
    )


def _as_before(name: str, tool: str, record: ToolRecord, earlier: Sequence[Lap]) -> Rating:
    for lap in reversed(earlier[-EARLIER:]):
        before = lap.verdicts.get(name)
        count = next((each for each in before.tools if each.tool == tool), None) if before else None
        if count is not None:
            return _counted(count, record)
    return Rating(score=0.0, failures=record.most)
