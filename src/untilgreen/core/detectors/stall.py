"""Moving without getting anywhere."""

from __future__ import annotations

from msgspec import Struct

from untilgreen.core.options import at_least
from untilgreen.core.rules import Signal
from untilgreen.core.state import RunState


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
        best = next((lap.number for lap in reversed(state.iterations) if not lap.since_best), 0)
        return Signal(
            kind="stall",
            strength="nudge",
            laps=tuple(lap.number for lap in state.iterations[best:] if not lap.awaiting_claim),
            evidence=f"no better lap than {best} for {last.since_best} laps",
            advice=f"Nothing got better for {last.since_best} laps, since lap {best}. Try another way.",
            confidence=0.7,
        )
