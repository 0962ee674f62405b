"""What the laps of a run say about the next one, in four numbers.

They were chosen among eleven on recorded runs; the others added nothing (see docs/learning.md).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from msgspec import Struct

from untilgreen.core.scoring.same_outcome import replies_alike
from untilgreen.core.values.fingerprint import similarity
from untilgreen.core.values.model import Verdict
from untilgreen.core.values.state import Lap

LOOK_BACK = 60
"""How many laps to compare with, so that the cost does not grow with the run."""
_NEAR = 3
_MOST_MOVES = 5


class Features(Struct, frozen=True, kw_only=True):
    """How much the last lap repeats those before it."""

    moves: float = 0.0
    """Earlier laps with the same reply and the same outcome; at most 5."""
    reply: float = 0.0
    """How similar its reply is to the most similar of the three before it, from 0 to 1."""
    outcome: float = 0.0
    """The same for its outcome."""
    distinct: float = 1.0
    """The number of different outcomes, divided by the number of laps."""

    @property
    def vector(self) -> tuple[float, float, float, float]:
        """The numbers in the order of a prior's weights."""
        return self.moves, self.reply, self.outcome, self.distinct


def features(laps: Sequence[Lap]) -> Features:
    """The features after the last of these laps."""
    laps = laps[-LOOK_BACK:]
    last = laps[-1]
    outcomes = [_outcome(lap) for lap in laps]
    moves = sum(
        one == outcomes[-1] and lap.reply.digest == last.reply.digest
        for lap, one in zip(laps[:-1], outcomes[:-1], strict=True)
    )
    near = laps[-1 - _NEAR : -1]
    return Features(
        moves=min(_MOST_MOVES, moves),
        reply=max((replies_alike(lap, last) for lap in near), default=0.0),
        outcome=max((_outcomes_alike(lap, last) for lap in near), default=0.0),
        distinct=len(set(outcomes)) / len(laps),
    )


def _outcome(lap: Lap) -> Hashable:
    return lap.failing, tuple(verdict.digest for verdict in lap.verdicts.values())


def _outcomes_alike(one: Lap, other: Lap) -> float:
    if one.failing and one.failing == other.failing:
        return 1.0
    shared = len(one.failing & other.failing) / max(1, len(one.failing | other.failing))
    return min(
        (_alike(verdict, other.verdicts.get(name), shared) for name, verdict in one.verdicts.items()),
        default=1.0,
    )


def _alike(one: Verdict, other: Verdict | None, shared: float) -> float:
    """By findings if both have some, by their words if neither has."""
    if other is None or bool(one.findings) != bool(other.findings):
        return 0.0
    if one.findings:
        return shared
    if one.digest and one.digest == other.digest:
        return 1.0
    return similarity(one.sketch, other.sketch) or 0.0
