"""The evidence in words, for a terminal or a page."""

from __future__ import annotations

import sys

from untilgreen.core.rules import Signal
from untilgreen.core.units import several
from untilgreen.surfaces.text import folded, in_ascii, inert, short
from untilgreen.surfaces.why.reasons import LapSeen, LimitUsed, Reasons, RedGate, RungTried, decided

WIDTH = 300


def words(told: Reasons, *, width: int = sys.maxsize, ascii_only: bool = False) -> list[str]:
    """Line by line: what was decided, what was seen, what was tried, what would have to change, commands."""
    place = f"after lap {told.lap}" if told.lap else "before lap 1"
    lines = [
        *folded(f"{told.status}: {short(told.reason, WIDTH)}", width),
        "",
        f"Decided {place}: {decided(told.decision)}{confidence(told)}",
        *_section("What the detectors saw", _signals(told), width),
        *_section("The laps", [_lap(lap) for lap in told.laps], width),
        *_section("What was tried against it", _rungs(told), width),
        *_section("What is red", [_gate(gate) for gate in told.red], width),
        *_section("Limits", [limit_words(limit) for limit in told.limits], width),
        *_section("What would have to change", [inert(each) for each in told.change], width),
        "",
        "How to go on",
        *(line for way in told.ways for line in (f"  {inert(way.what)}:", f"    {inert(way.command)}")),
    ]
    return [in_ascii(line) for line in lines] if ascii_only else lines


def _section(title: str, entries: list[str], width: int) -> list[str]:
    """A heading and its entries, each folded by itself; nothing where there is none."""
    lines = ["", title] if entries else []
    for entry in entries:
        first, *rest = folded(entry, width - 4)
        lines += [f"  {first}", *(f"    {line}" for line in rest)]
    return lines


def confidence(told: Reasons) -> str:
    """How sure the decision was, and whose it was."""
    sure = told.decision.confidence if told.decision else 1.0
    return f" (confidence {sure:.2f}, strategy {inert(told.strategy)})"


def _signals(told: Reasons) -> list[str]:
    seen = [signal_words(signal) for signal in told.signals]
    names = {signal.kind for signal in told.signals}
    quiet = [name for name in told.detectors if name not in names]
    return [*seen, f"nothing: {inert(', '.join(quiet))}"] if quiet else seen


def _lap(lap: LapSeen) -> str:
    marks = [
        f"remedy {lap.remedy!r}" if lap.remedy else "",
        f"turn ended: {lap.error}" if lap.error else "",
        "claimed to be done" if lap.claimed else "",
        "better than all before" if lap.improved else "",
    ]
    said = "".join(f", {mark}" for mark in marks if mark)
    files = several(lap.changed, "file") if lap.changed else "no file"
    tree = f" [tree {lap.tree[:8]}]" if lap.tree else ""
    figures = f"score {lap.score:.2f}, {several(lap.complaints, 'complaint')}, {files} changed"
    return f"lap {lap.lap}: {figures}{said}{tree}"


def _rungs(told: Reasons) -> list[str]:
    lines = [rung_words(rung) for rung in told.tried]
    if told.tried or (told.signals and told.change):
        untried = ", ".join(told.untried)
        lines.append(f"not tried: {inert(untried)}" if untried else "no rung is left")
    return lines


def signal_words(signal: Signal) -> str:
    """What a detector saw, and where."""
    laps = f"lap{'' if len(signal.laps) == 1 else 's'} {', '.join(map(str, signal.laps))}"
    return f"{inert(signal.kind)} ({signal.strength}) in {laps}: {short(signal.evidence, WIDTH)}"


def rung_words(rung: RungTried) -> str:
    """What a rung of the ladder brought."""
    return f"{inert(rung.rung)} in lap {rung.lap}: {'it helped' if rung.helped else 'nothing got better'}"


def _gate(gate: RedGate) -> str:
    kind = "" if gate.required else " (not required)"
    if gate.status == "error":
        return f"{inert(gate.gate)}{kind} could not tell: {short(gate.said or ', '.join(gate.first), WIDTH)}"
    first = ", ".join(short(each, 80) for each in gate.first[:3])
    more = f" and {gate.complaints - 3} more" if gate.complaints > 3 and first else ""
    return f"{inert(gate.gate)}{kind}: {first or 'fails'}{more}"


def limit_words(limit: LimitUsed) -> str:
    """How much of a limit is used."""
    return f"{limit.limit}: {limit.used} of {limit.most}"
