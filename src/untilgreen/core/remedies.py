"""What is tried before a stuck run is given up: one rung a lap, until the streak ends or the rungs do."""

from __future__ import annotations

from typing import Literal

from untilgreen.core.decision import REVIEW, Ask, Continue, Decision, Finish
from untilgreen.core.rules import Signal, stuck
from untilgreen.core.state import RunState
from untilgreen.core.units import several

Rung = Literal["hint", "fresh", "best", "switch", "ask"]
RUNGS: tuple[Rung, ...] = ("hint", "fresh", "best", "switch", "ask")
HINT, FRESH, BEST, SWITCH, ASK = RUNGS
IN_A_SESSION = frozenset({HINT, ASK})
"""A living session can neither be started anew nor have its files moved under it."""
DIFFERENT, CANCEL, END = "different approach", "cancel", "end"
ABOUT_STUCK = "stuck"
_LAPS_SHOWN = 9


def instead_of_ending(state: RunState, finish: Finish, signals: tuple[Signal, ...]) -> Decision:
    """The next rung that was not tried in this streak, or the end."""
    rung = next_rung(state)
    if rung is None:
        return finish
    if rung == ASK:
        return _question(state, finish, signals)
    return Continue(
        reason=f"stuck ({finish.reason}); trying {rung!r}",
        confidence=finish.confidence,
        remedy=rung,
        hint=hint(state, signals),
        restore=state.best.lap if rung == BEST and state.best else None,
        agent=other_agent(state) if rung == SWITCH else None,
        metadata=finish.metadata,
    )


def next_rung(state: RunState) -> str | None:
    """In the order of the spec; a rung that can't apply here is passed over."""
    for rung in state.plan.remedies:
        if rung in state.tried or (state.seat == "session" and rung not in IN_A_SESSION):
            continue
        if rung == SWITCH and other_agent(state) is None:
            continue
        if rung == BEST and state.best is None:
            continue
        return rung
    return None


def other_agent(state: RunState) -> str | None:
    """The one after the present agent, from the last on to the first again."""
    names = state.plan.agent_names()
    if len(names) < 2:
        return None
    place = names.index(state.agent) if state.agent in names else -1
    return names[(place + 1) % len(names)]


def hint(state: RunState, signals: tuple[Signal, ...]) -> str:
    """The repeated failure, what was tried, and the plain request not to try it again."""
    signal = stuck(signals)
    laps = [lap for lap in state.iterations if signal and lap.number in signal.laps][-_LAPS_SHOWN:]
    tried = [
        f"- lap {lap.number} changed {', '.join(change.path for change in lap.changes[:5]) or 'nothing'}"
        for lap in laps
    ]
    parts = [
        signal.advice if signal else "",
        "What was tried without effect:\n" + "\n".join(tried) if tried else "",
        "Do not try this again. Say first why it can't have worked, then do something different.",
    ]
    return "\n\n".join(part for part in parts if part)


def resolve(state: RunState, choice: str, finish: Finish, signals: tuple[Signal, ...]) -> Decision:
    """What the answer to the question of a stuck run means."""
    by = f" by {state.answer.by}" if state.answer and state.answer.by else ""
    if choice in (DIFFERENT, REVIEW):
        return Continue(
            reason=f"{choice} was asked for{by}",
            remedy=ASK,
            hint=hint(state, signals),
        )
    return finish


def _question(state: RunState, finish: Finish, signals: tuple[Signal, ...]) -> Ask:
    signal = stuck(signals)
    laps = [lap for lap in state.iterations if signal and lap.number in signal.laps][-_LAPS_SHOWN:]
    lines = [
        f"lap {lap.number}: score {lap.score:.2f}, {several(lap.count, 'complaint')}, "
        f"{several(len(lap.changes), 'file') if lap.changes else 'no files'} changed"
        for lap in laps
    ]
    return Ask(
        question="\n".join(
            [f"The run is stuck: {finish.reason}", *lines, "Without an answer it ends with the best lap."]
        ),
        choices=(DIFFERENT, REVIEW, CANCEL, END),
        default=END,
        reason=finish.reason,
        confidence=finish.confidence,
        metadata={**finish.metadata, "about": ABOUT_STUCK},
    )
