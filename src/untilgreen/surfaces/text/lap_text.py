"""One lap in full: what the agent was told and said, what changed, what the gates found, what was decided."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from untilgreen.core.values.state import Lap, RunState
from untilgreen.core.values.units import several, show_duration, show_score
from untilgreen.surfaces.text.diffs import in_color, stat
from untilgreen.surfaces.text.event_lines import ASCII_MARKS, MARKS, agent_words, verdict_words
from untilgreen.surfaces.text.safe_text import inert, inert_lines, short

MOST_NAMED = 30


class LapRecord(Struct, frozen=True, kw_only=True):
    """A lap, and the texts that are kept beside the journal."""

    lap: Lap
    before: frozenset[str]
    """The findings of the lap before."""
    earlier: frozenset[str]
    """The findings of all earlier laps."""
    brief: str = ""
    activity: Sequence[str] = ()
    diff: str = ""
    outputs: dict[str, str] = {}


def lap_text(record: LapRecord, state: RunState, *, color: bool, ascii_only: bool = False) -> str:
    """The whole lap, in the order in which it happened."""
    lap = record.lap
    name = f"Lap {lap.number}" if lap.number else "Lap 0, before the first turn"
    how = "green" if lap.green else several(lap.count, "finding")
    parts = [_title(f"{name}: {how}, score {show_score(lap.score)}", color)]
    if lap.number:
        parts += [*_section("Brief", record.brief, color), *_said(record, color)]
        parts += _changed(record, color)
    marks = ASCII_MARKS if ascii_only else MARKS
    parts += [*_gates(record, state, color, marks), *_findings(record, color), *_decided(lap, color)]
    return "\n".join(parts) + "\n"


def _said(record: LapRecord, color: bool) -> Iterator[str]:
    lap, shown = record.lap, "\n".join(record.activity)
    reply = lap.reply.text.strip()
    cost = f", ${lap.cost:.2f}" if lap.cost else ""
    tokens = f", {lap.tokens:,} tokens" if lap.tokens else ""
    yield from _section(
        f"Reply of {agent_words(lap.agent)}, {show_duration(max(0.0, lap.duration))}{tokens}{cost}",
        shown if reply in shown else f"{shown}\n\n{reply}".strip(),
        color,
    )
    if lap.reply.error:
        yield f"  turn failed: {lap.reply.error} {short(lap.reply.detail, 200)}".rstrip()
    if lap.claim:
        yield "  It said that it is done."


def _changed(record: LapRecord, color: bool) -> Iterator[str]:
    yield _title("Changes", color)
    yield from stat(record.diff) or ["  nothing"]
    if record.diff:
        yield ""
        yield (in_color(record.diff) if color else inert_lines(record.diff)).rstrip("\n")


def _gates(record: LapRecord, state: RunState, color: bool, marks: Mapping[str, str]) -> Iterator[str]:
    yield _title("Gates", color)
    for gate in state.plan.gates:
        verdict = record.lap.verdicts.get(gate.name)
        if verdict is None:
            continue
        yield f"  {marks[verdict.status]} {inert(gate.name)} {verdict_words(verdict)}"
        printed = record.outputs.get(gate.name, "") or verdict.excerpt
        if verdict.status in ("fail", "error") and printed.strip():
            yield textwrap.indent(inert_lines(printed.strip()), "      ")


def _findings(record: LapRecord, color: bool) -> Iterator[str]:
    now = record.lap.failing
    rows = [
        ("fixed", record.before - now),
        ("broken again", (now - record.before) & record.earlier),
        ("new", now - record.before - record.earlier),
        ("still there", now & record.before),
    ]
    if any(ids for _, ids in rows):
        yield _title("Findings", color)
    for word, ids in rows:
        if ids:
            names = [f"    {short(each, 150)}" for each in sorted(ids)[:MOST_NAMED]]
            more = [f"    and {len(ids) - MOST_NAMED} more"] if len(ids) > MOST_NAMED else []
            yield "\n".join([f"  {word}: {len(ids)}", *names, *more])


def _decided(lap: Lap, color: bool) -> Iterator[str]:
    if lap.decision is None:
        return
    yield _title("Decision", color)
    yield f"  {lap.decision.__struct_config__.tag}: {short(lap.decision.reason, 300)}"
    for signal in lap.signals:
        yield f"  {inert(signal.kind)} ({signal.strength}): {short(signal.evidence, 300)}"


def _section(title: str, text: str, color: bool) -> Iterator[str]:
    yield _title(title, color)
    yield textwrap.indent(inert_lines(text.strip()), "  ") if text.strip() else "  nothing"


def _title(text: str, color: bool) -> str:
    return f"\n\x1b[1m{text}\x1b[0m" if color else f"\n{text}"
