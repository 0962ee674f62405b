"""The agent itself fails: crashed, refused, or waiting for an answer that nobody gives."""

from __future__ import annotations

from msgspec import Struct

from untilgreen.core.rules import Signal
from untilgreen.core.state import RunState


class Errors(Struct, frozen=True, kw_only=True):
    """The last turn ended with an error class or with denials; only ever a nudge."""

    def detect(self, state: RunState) -> Signal | None:
        """A nudge that names what went wrong; the brief itself tells the agent about it."""
        if not state.iterations:
            return None
        last = state.iterations[-1]
        if last.reply.error is None and not last.reply.denied:
            return None
        denied = f"denied: {', '.join(last.reply.denied)}" if last.reply.denied else ""
        what = f"{last.reply.error}: {last.reply.detail}".rstrip(": ") if last.reply.error else "permission"
        return Signal(
            kind="errors",
            strength="nudge",
            laps=(last.number,),
            evidence="; ".join(part for part in (what, denied) if part),
            confidence=0.6,
        )
