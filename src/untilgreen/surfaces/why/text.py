"""`why` in words: the decision, its evidence, and the next steps."""

from __future__ import annotations

import sys

from untilgreen.core.values.rules import Signal, stuck
from untilgreen.core.values.units import several, show_score
from untilgreen.surfaces.json.lap import LapView
from untilgreen.surfaces.text.safe_text import folded, in_ascii, inert, short
from untilgreen.surfaces.text.summary import headline
from untilgreen.surfaces.why.evidence import LimitUsed, Reasons, RedGate, RungTried, decided

WIDTH = 300


def words(explained: Reasons, *, width: int = sys.maxsize, ascii_only: bool = False) -> list[str]:
    """Line by line: the decision, what was seen, what was tried, what has to change, the next steps."""
    place = f"after lap {explained.lap}" if explained.lap else "before lap 1"
    lines = [
        *folded(f"{explained.status}: {short(headline(explained.reason), WIDTH)}", width),
        "",
        *folded(f"Decision {place}: {decided(explained.decision)}{confidence(explained)}", width),
        *_section(f"What the detectors saw {place}", _signals(explained), width),
        *_section("Laps", [_lap(lap) for lap in explained.laps], width),
        *_section("What was tried", _rungs(explained), width),
        *_section("Failing gates", [_gate(gate) for gate in explained.red], width),
        *_section("Asked for a person", unanswered_words(explained), width),
        *_section("Limits", [limit_words(limit) for limit in explained.limits], width),
        *_section("What has to change", [inert(each) for each in explained.change], width),
        "",
        "Next steps",
        *(line for way in explained.ways for line in (f"  {inert(way.what)}:", f"    {inert(way.command)}")),
    ]
    return [in_ascii(line) for line in lines] if ascii_only else lines


def _section(title: str, entries: list[str], width: int) -> list[str]:
    """A heading and its entries, each wrapped to the width; nothing if there are none."""
    lines = ["", title] if entries else []
    for entry in entries:
        first, *rest = folded(entry, width - 4)
        lines += [f"  {first}", *(f"    {line}" for line in rest)]
    return lines


def confidence(explained: Reasons) -> str:
    """How sure the strategy was, and which strategy it was."""
    sure = explained.decision.confidence if explained.decision else 1.0
    return f" (confidence {sure:.2f}, strategy {inert(explained.strategy)})"


def _signals(explained: Reasons) -> list[str]:
    seen = [signal_words(signal) for signal in explained.signals]
    return [*seen, f"no signal from: {inert(', '.join(explained.quiet))}"] if explained.quiet else seen


def _lap(lap: LapView) -> str:
    marks = [
        f"remedy {lap.remedy!r}" if lap.remedy else "",
        f"turn ended: {lap.error}" if lap.error else "",
        "claimed to be done" if lap.claim else "",
        "best so far" if lap.improved else "",
    ]
    said = "".join(f", {mark}" for mark in marks if mark)
    files = several(len(lap.changes), "file") if lap.changes else "no file"
    tree = f" [snapshot {lap.snapshot[:8]}]" if lap.snapshot else ""
    figures = f"score {show_score(lap.score)}, {several(lap.findings, 'finding')}, {files} changed"
    return f"lap {lap.number}: {figures}{said}{tree}"


def _rungs(explained: Reasons) -> list[str]:
    lines = [rung_words(rung) for rung in explained.tried]
    if explained.tried or (stuck(explained.signals) and explained.change):
        untried = ", ".join(explained.untried)
        lines.append(f"not tried: {inert(untried)}" if untried else "nothing is left to try")
    return lines


def signal_words(signal: Signal) -> str:
    """What a detector saw, and where."""
    laps = f"lap{'' if len(signal.laps) == 1 else 's'} {', '.join(map(str, signal.laps))}"
    named = f" [{inert(signal.signature)} {signal.digest[:8]}".rstrip() + "]" if signal.signature else ""
    return f"{inert(signal.kind)} ({signal.strength}) in {laps}: {short(signal.evidence, WIDTH)}{named}"


def rung_words(rung: RungTried) -> str:
    """What a remedy achieved."""
    return f"{inert(rung.rung)} in lap {rung.lap}: {'it helped' if rung.helped else 'no improvement'}"


def unanswered_words(explained: Reasons) -> list[str]:
    """Which gates asked for a person, and when nobody could answer."""
    return [
        f"{inert(gate)} in lap{'s' * (len(laps) > 1)} {', '.join(map(str, laps))}: nobody could answer"
        for gate, laps in explained.unanswered.items()
    ]


def _gate(gate: RedGate) -> str:
    kind = "" if gate.required else " (not required)"
    if gate.status == "error":
        return f"{inert(gate.gate)}{kind} is broken: {short(gate.said or ', '.join(gate.first), WIDTH)}"
    first = ", ".join(short(each, 80) for each in gate.first[:3])
    more = f" and {gate.findings - 3} more" if gate.findings > 3 else ""
    return f"{inert(gate.gate)}{kind}: {gate.findings} failing" + (f": {first}{more}" if first else "")


def limit_words(limit: LimitUsed) -> str:
    """How much of a limit is used."""
    return f"{limit.limit}: {limit.used} of {limit.most}"
