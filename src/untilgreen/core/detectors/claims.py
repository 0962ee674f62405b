"""Saying that it is done when it is not."""

from __future__ import annotations

from msgspec import Struct

from untilgreen.core.options import at_least
from untilgreen.core.rules import Signal
from untilgreen.core.state import RunState
from untilgreen.core.units import several


class Claims(Struct, frozen=True, kw_only=True):
    """False claims pile up while nothing improves."""

    rejected: int = 3

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        at_least(self, 1, "rejected")

    def detect(self, state: RunState) -> Signal | None:
        """Stuck once so many claims were rejected since the last improvement."""
        if not state.iterations or state.iterations[-1].rejected < self.rejected:
            return None
        last = state.iterations[-1]
        if not last.claim:
            return None
        false = [lap.number for lap in state.iterations if lap.claim and not lap.awaiting_claim]
        return Signal(
            kind="claims",
            strength="stuck",
            laps=tuple(false[-last.rejected :]),
            evidence=f"{several(last.rejected, 'claim')} of being done, each with red gates",
            advice=f"You claimed {several(last.rejected, 'time')} to be done while gates were red. "
            "Run them first.",
            confidence=0.95,
        )
