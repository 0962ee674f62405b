"""A turn that did nothing."""

from __future__ import annotations

from msgspec import Struct

from untilgreen.core.values.rules import Signal
from untilgreen.core.values.state import RunState


class Noop(Struct, frozen=True, kw_only=True):
    """The last turn changed no file though something is still red; only ever a nudge."""

    def detect(self, state: RunState) -> Signal | None:
        """A nudge for the turn that was empty or left every file as it was."""
        if not state.laps or not state.laps[-1].evidence or state.laps[-1].moved:
            return None
        last = state.laps[-1]
        return Signal(
            kind="noop",
            strength="nudge",
            laps=(last.number,),
            evidence="no file changed" + ("" if last.reply.text.strip() else " and the agent said nothing"),
            advice="Your last turn changed no file. Describing a fix is not enough: change the code.",
            confidence=0.6,
        )
