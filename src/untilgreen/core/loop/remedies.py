"""What is tried before a stuck run is given up: one rung per lap, until something improves."""

from __future__ import annotations

from typing import Literal

from untilgreen.core.values.decision import PATIENCE, REVIEW, Ask, Continue, Decision, Finish
from untilgreen.core.values.model import Plan
from untilgreen.core.values.rules import Signal, stuck
from untilgreen.core.values.state import Lap, RunState
from untilgreen.core.values.units import several, show_score

Rung = Literal["hint", "fresh", "best", "switch", "ask"]
RUNGS: tuple[Rung, ...] = ("hint", "fresh", "best", "switch", "ask")
HINT, FRESH, BEST, SWITCH, ASK = RUNGS
IN_A_SESSION = frozenset({HINT, ASK})
"""The rungs for a live session, which can't be restarted or have its files changed underneath it."""
DIFFERENT, CANCEL, END = "different approach", "cancel", "end"
ABOUT_STUCK = "stuck"
_LAPS_SHOWN = 9
_PATHS_SHOWN = 2
_WORDS_SHOWN, _REPLY_SHOWN = 60, 300
"""Characters shown of a reply in its lap's line, and of a repeated reply."""


def instead_of_ending(state: RunState, finish: Finish, signals: tuple[Signal, ...]) -> Decision:
    """The next rung that was not tried since the last improvement, or the end."""
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
    """The next untried rung in the order of the spec, except those that can't be used here."""
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
    """The agent after the current one; the first follows the last."""
    names = [name for name in (*agents_after(state), *state.plan.agent_names()) if name != state.agent]
    return names[0] if names else None


def agents_after(state: RunState) -> tuple[str, ...]:
    """The agents that follow the current one in the plan."""
    names = state.plan.agent_names()
    return names[names.index(state.agent) + 1 :] if state.agent in names else names


def hint(state: RunState, signals: tuple[Signal, ...]) -> str:
    """The repeated failure, what was tried, and the plain request not to try it again."""
    signal = stuck(signals)
    tried = [
        f"- lap {lap.number} changed {', '.join(change.path for change in lap.changes[:5]) or 'nothing'}"
        for lap in _shown_by(signal, state)
    ]
    parts = [
        signal.advice if signal else "",
        "What was tried without effect:\n" + "\n".join(tried) if tried else "",
        "Do not try this again. First explain why it did not work, then do something different.",
    ]
    return "\n\n".join(part for part in parts if part)


def resolve(state: RunState, choice: str, finish: Finish, signals: tuple[Signal, ...]) -> Decision:
    """The decision that follows from a person's answer about a stuck run."""
    by = f" by {state.answer.by}" if state.answer and state.answer.by else ""
    if choice in (DIFFERENT, REVIEW):
        return Continue(
            reason=f"{choice} was requested{by}",
            remedy=ASK,
            hint=hint(state, signals),
        )
    return finish


def _shown_by(signal: Signal | None, state: RunState) -> list[Lap]:
    """The latest laps that show what the signal says."""
    return state.numbered(signal.laps)[-_LAPS_SHOWN:] if signal else []


def _pattern(signal: Signal | None, finish: Finish) -> list[str]:
    """What repeats, and its short name."""
    first = f"The run is stuck: {finish.reason}"
    if signal is None or not signal.signature:
        return [first]
    return [first, f"Signature: {signal.signature}" + (f" ({signal.digest[:8]})" if signal.digest else "")]


def _line(lap: Lap) -> str:
    """One lap: what it left, what it changed, and how its reply began."""
    paths = [change.path for change in lap.changes]
    more = f" and {len(paths) - _PATHS_SHOWN} more" if paths[_PATHS_SHOWN:] else ""
    changed = f"changed {', '.join(paths[:_PATHS_SHOWN])}{more}" if paths else "changed no file"
    said = _first_words(lap.reply.text, _WORDS_SHOWN)
    score = f"score {show_score(lap.score)}, {several(lap.count, 'finding')}"
    return f"lap {lap.number}: {score}, {changed}" + (f': "{said}"' if said else "")


def _repeated(signal: Signal | None, state: RunState) -> list[str]:
    """The repeated reply, if that is the pattern."""
    laps = _shown_by(signal, state) if signal is not None and signal.kind == "similar" else []
    return [f'It keeps saying: "{_first_words(laps[-1].reply.text, _REPLY_SHOWN)}"'] if laps else []


def _first_words(text: str, most: int) -> str:
    words = " ".join(text.split())
    return words if len(words) <= most else words[: most - 1].rstrip() + "…"


def patience(plan: Plan) -> float | None:
    """How many seconds a question waits before its default is taken; None is forever."""
    return None if plan.wait == "forever" else PATIENCE


def _question(state: RunState, finish: Finish, signals: tuple[Signal, ...]) -> Ask:
    until, signal = patience(state.plan), stuck(signals)
    default = ["Without an answer it ends with the best lap."] if until is not None else []
    laps = [_line(lap) for lap in _shown_by(signal, state)]
    return Ask(
        question="\n".join([*_pattern(signal, finish), *laps, *_repeated(signal, state), *default]),
        until=until,
        choices=(DIFFERENT, REVIEW, CANCEL, END),
        default=END,
        reason=finish.reason,
        confidence=finish.confidence,
        metadata={**finish.metadata, "about": ABOUT_STUCK},
    )
