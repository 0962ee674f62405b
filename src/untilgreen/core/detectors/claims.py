"""Saying that it is done when it is not."""

from __future__ import annotations

from typing import Annotated

from msgspec import Struct

from untilgreen.core.values.option_checks import FromOne, about, check_options
from untilgreen.core.values.rules import Signal
from untilgreen.core.values.state import RunState
from untilgreen.core.values.units import several


class Claims(Struct, frozen=True, kw_only=True):
    """False claims pile up while nothing improves."""

    rejected: Annotated[FromOne, about("Rejected claims since the last improvement.")] = 3

    def __post_init__(self) -> None:
        """Refuse options that make no sense."""
        check_options(self)

    def detect(self, state: RunState) -> Signal | None:
        """Stuck once `rejected` claims were rejected since the last improvement."""
        if not state.laps or state.laps[-1].rejected < self.rejected:
            return None
        last = state.laps[-1]
        if not last.claim:
            return None
        false = [lap.number for lap in state.laps if lap.claim and not lap.awaiting_claim]
        return Signal(
            kind="claims",
            strength="stuck",
            laps=tuple(false[-last.rejected :]),
            evidence=f"{several(last.rejected, 'claim')} that it is done, each while gates were red",
            advice=f"You claimed {several(last.rejected, 'time')} that you were done, but gates were red. "
            "Run the gates before you claim.",
            confidence=0.95,
        )
