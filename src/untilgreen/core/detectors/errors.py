"""The agent itself failed: it crashed, was refused, or asked a question nobody answers."""

from __future__ import annotations

from msgspec import Struct

from untilgreen.core.briefing.excerpt import trim
from untilgreen.core.values.rules import Signal
from untilgreen.core.values.state import RunState

_LONGEST = 300
_SHOWN = 5


class Errors(Struct, frozen=True, kw_only=True):
    """The last turn ended with an error class or with denials; only ever a nudge."""

    def detect(self, state: RunState) -> Signal | None:
        """A nudge that names what went wrong; the brief itself tells the agent about it."""
        if not state.laps:
            return None
        last = state.laps[-1]
        if last.reply.error is None and not last.reply.denied:
            return None
        denied = f"denied: {_listed(last.reply.denied)}" if last.reply.denied else ""
        detail = trim(last.reply.detail, _LONGEST)
        what = f"{last.reply.error}: {detail}".rstrip(": ") if last.reply.error else "permission"
        return Signal(
            kind="errors",
            strength="nudge",
            laps=(last.number,),
            evidence="; ".join(part for part in (what, denied) if part),
            confidence=0.6,
        )


def _listed(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - _SHOWN} more" if names[_SHOWN:] else ""
    return ", ".join(names[:_SHOWN]) + more
