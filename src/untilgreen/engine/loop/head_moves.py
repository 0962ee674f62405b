"""Finds commits that the agent made itself: HEAD before its turn, and after it."""

from __future__ import annotations

from untilgreen.core.briefing.excerpt import fit
from untilgreen.core.loop.step import TakeSnapshot
from untilgreen.core.values.state import RunState
from untilgreen.ports import History

LONGEST_SUBJECT = 200


async def committed(
    step: TakeSnapshot, state: RunState, history: History | None
) -> tuple[str, tuple[str, ...]]:
    """HEAD, if it has moved, and the commits of a turn; commits between turns are somebody else's."""
    if history is None:
        return "", ()
    now = await history.head()
    if now == state.head:
        return "", ()
    again = state.open is not None and state.open.attempt > 1
    if not state.head or not (step.phase in ("turn", "final") or again):
        return now, ()
    return now, tuple(fit(each, LONGEST_SUBJECT) for each in await history.commits(state.head, now))
