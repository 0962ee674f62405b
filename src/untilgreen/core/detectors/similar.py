"""Saying the same again while nothing moves."""

from __future__ import annotations

from itertools import pairwise

from msgspec import Struct

from untilgreen.core.fingerprint import similarity
from untilgreen.core.options import at_least, share
from untilgreen.core.rules import Signal
from untilgreen.core.state import Iteration, RunState


class Similar(Struct, frozen=True, kw_only=True):
    """The last answers are nearly the same, and neither files nor findings changed between them."""

    similarity: float = 0.95
    window: int = 3

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        at_least(self, 2, "window")
        share(self, "similarity")

    def detect(self, state: RunState) -> Signal | None:
        """A signal when each of the last answers is like the one before it."""
        laps = state.iterations[-self.window :]
        if len(laps) < self.window or any(lap.failed for lap in laps):
            return None
        likeness = [_likeness(one, other) for one, other in pairwise(laps)]
        if any(later.improved for later in laps[1:]) or min(likeness, default=0.0) < self.similarity:
            return None
        return Signal(
            kind="similar",
            strength="stuck",
            laps=tuple(lap.number for lap in laps),
            evidence=f"answers {min(likeness):.0%} alike, files and findings unmoved",
            advice=f"Your last {len(laps)} answers said the same, and nothing changed.",
            confidence=0.85,
        )


def _likeness(one: Iteration, other: Iteration) -> float:
    if one.snapshot != other.snapshot or one.failing != other.failing:
        return 0.0
    if one.reply.digest and one.reply.digest == other.reply.digest:
        return 1.0
    return similarity(one.reply.sketch, other.reply.sketch) or 0.0
