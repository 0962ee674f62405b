"""Moving without getting anywhere."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from untilgreen.core.options import at_least
from untilgreen.core.rules import Signal
from untilgreen.core.state import Iteration, RunState
from untilgreen.core.units import several

_SHOWN = 50
"""Laps that a signal names; one that named a thousand would be slow to make and tell no more."""


class Stall(Struct, frozen=True, kw_only=True):
    """No new best for some laps: a nudge, since gates alone say too little to stop a run."""

    laps: int = 5

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        at_least(self, 1, "laps")

    def detect(self, state: RunState) -> Signal | None:
        """A nudge as long as the stall lasts."""
        if not state.iterations or state.iterations[-1].since_best < self.laps:
            return None
        last = state.iterations[-1]
        best = _best_before(state.iterations, last)
        shown = state.iterations[max(best, len(state.iterations) - _SHOWN) :]
        return Signal(
            kind="stall",
            strength="nudge",
            laps=tuple(lap.number for lap in shown if not lap.awaiting_claim),
            evidence=f"no better lap than {best} for {several(last.since_best, 'lap')}",
            advice=f"Nothing got better for {several(last.since_best, 'lap')}, since lap {best}. "
            "Try another way.",
            confidence=0.7,
        )


def _best_before(iterations: Sequence[Iteration], last: Iteration) -> int:
    """The number of the last lap that was better than all before it, 0 where none was.

    It lies at least as far back as laps were counted since; those that were not counted are passed over.
    """
    place = len(iterations) - 1 - last.since_best
    while place >= 0 and iterations[place].since_best:
        place -= 1
    return iterations[place].number if place >= 0 else 0
