"""Saying the same again while nothing moves."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Literal

from msgspec import Struct

from untilgreen.core.detectors.outcome import answers_alike
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
        """A signal when each of the last answers is like the one before it; a nudge where one is missing."""
        return _look(state.iterations, self.window, self.similarity, "stuck") or (
            _look(state.iterations, self.window - 1, self.similarity, "nudge") if self.window > 2 else None
        )


def _look(
    iterations: Sequence[Iteration], window: int, wanted: float, strength: Literal["nudge", "stuck"]
) -> Signal | None:
    laps = iterations[-window:]
    if len(laps) < window or any(lap.failed for lap in laps) or any(lap.improved for lap in laps[1:]):
        return None
    likeness = min(_likeness(one, other) for one, other in pairwise(laps))
    if likeness < wanted:
        return None
    return Signal(
        kind="similar",
        strength=strength,
        laps=tuple(lap.number for lap in laps),
        evidence=f"answers {likeness:.0%} alike, files and findings unmoved",
        advice=f"Your last {len(laps)} answers said the same, and nothing changed.",
        confidence=0.85 if strength == "stuck" else 0.7,
    )


def _likeness(one: Iteration, other: Iteration) -> float:
    if one.snapshot != other.snapshot or one.failing != other.failing:
        return 0.0
    return answers_alike(one, other)
