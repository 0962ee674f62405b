"""When two laps came out the same: what their gates said, compared by findings or by the words of an output.

Some laps say too little to be compared: three commands that print nothing are no proof of a circle, and
neither are three short messages. An output that names findings, or that goes on for some lines, is evidence.
"""

from __future__ import annotations

from untilgreen.core.fingerprint import similarity
from untilgreen.core.model import Verdict
from untilgreen.core.state import Iteration

ENOUGH = 10
"""Chunks of a sketch, of four words or so each, from which on an output without findings can be compared."""
LONG = 32
"""Chunks from which on an output can be called alike though it is not the same."""
RELATED = 0.05
"""Below that, two answers have nothing to do with each other, and neither have their outputs."""


def comparable(lap: Iteration) -> bool:
    """Whether red gates said enough to tell this lap's outcome from another."""
    return any(verdict.findings or len(verdict.sketch) >= ENOUGH for verdict in _red(lap).values())


def same(one: Iteration, other: Iteration, overlap: float) -> bool:
    """The same complaints, or so large a share of them."""
    if one.failing == other.failing:
        return True
    shared = len(one.failing & other.failing)
    return shared >= overlap * (len(one.failing) + len(other.failing) - shared)


def likeness(one: Iteration, other: Iteration) -> float:
    """How much of two outputs without findings is the same; 0 where something else differs."""
    if not any(len(verdict.sketch) >= LONG for verdict in one.verdicts.values()):
        return 0.0
    mine, yours = _red(one), _red(other)
    if mine.keys() != yours.keys() or answers_alike(one, other) < RELATED:
        return 0.0
    return min((_alike(verdict, yours[name]) for name, verdict in mine.items()), default=0.0)


def answers_alike(one: Iteration, other: Iteration) -> float:
    """How much of two answers is the same."""
    if one.reply.digest and one.reply.digest == other.reply.digest:
        return 1.0
    return similarity(one.reply.sketch, other.reply.sketch) or 0.0


def _alike(one: Verdict, other: Verdict) -> float:
    if one.digest == other.digest:
        return 1.0
    if one.findings or other.findings or min(len(one.sketch), len(other.sketch)) < LONG:
        return 0.0
    return similarity(one.sketch, other.sketch) or 0.0


def _red(lap: Iteration) -> dict[str, Verdict]:
    """The verdicts behind what the lap is failing; gates that are not required have none there."""
    return {
        name: verdict for name, verdict in lap.verdicts.items() if _first_id(name, verdict) in lap.failing
    }


def _first_id(gate: str, verdict: Verdict) -> str:
    return f"{gate}: {verdict.findings[0].id}" if verdict.findings else f"{gate}: #{verdict.digest}"
