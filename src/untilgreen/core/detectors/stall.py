"""Moving without getting anywhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from msgspec import Struct

from untilgreen.core.values.option_checks import FromOne, about, check_options
from untilgreen.core.values.rules import Signal
from untilgreen.core.values.state import Lap, RunState
from untilgreen.core.values.units import several

_SHOWN = 50
"""The most laps that a signal names; a thousand would be slow and say no more."""


class Stall(Struct, frozen=True, kw_only=True):
    """No new best for some laps: a nudge, since gates alone say too little to stop a run."""

    laps: Annotated[FromOne, about("Laps without a new best.")] = 5

    def __post_init__(self) -> None:
        """Refuse options that make no sense."""
        check_options(self)

    def detect(self, state: RunState) -> Signal | None:
        """A nudge as long as the stall lasts."""
        if not state.laps or state.laps[-1].since_best < self.laps:
            return None
        last = state.laps[-1]
        best = _best_before(state.laps, last)
        shown = state.laps[max(best, len(state.laps) - _SHOWN) :]
        return Signal(
            kind="stall",
            strength="nudge",
            laps=tuple(lap.number for lap in shown if not lap.awaiting_claim),
            evidence=f"no improvement for {several(last.since_best, 'lap')}, since lap {best}",
            advice=f"Nothing has improved for {several(last.since_best, 'lap')}, since lap {best}. "
            "Try a different approach.",
            confidence=0.7,
        )


def _best_before(laps: Sequence[Lap], last: Lap) -> int:
    """The number of the last lap that was better than all before it, 0 if none was.

    It is at least `since_best` laps back, or further if some laps in between were not counted.
    """
    place = len(laps) - 1 - last.since_best
    while place >= 0 and laps[place].since_best:
        place -= 1
    return laps[place].number if place >= 0 else 0
