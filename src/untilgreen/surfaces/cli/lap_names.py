"""How people name the laps of a run: `RUN@3`, `RUN@best`, `RUN@1..3`."""

from __future__ import annotations

import re

from untilgreen.core.values.state import RunState
from untilgreen.errors import UserError

BEST = "best"
LAP = rf"\d{{1,6}}|{BEST}"


def laps(text: str) -> tuple[str, str | None, str | None]:
    """`RUN`, `RUN@3`, `RUN@1..3`; `@last` may stand for the run."""
    head, at, rest = ("@last", "@", text[len("@last@") :]) if text.startswith("@last@") else (text, "", "")
    if not at and text != "@last":
        head, at, rest = text.partition("@")
    match = re.fullmatch(rf"({LAP})(?:\.\.({LAP}))?", rest) if at else None
    if at and match is None:
        raise UserError(f"{text!r} doesn't name a lap. Write it like RUN@3, RUN@best or RUN@1..3.")
    return head or "@last", match[1] if match else None, match[2] if match else None


def lap_number(state: RunState, lap: str) -> int:
    """The number of a lap that may be called `best`."""
    if lap == BEST:
        return state.best.lap if state.best else 0
    return int(lap)


def snapshot_of(state: RunState, lap: str) -> str:
    """The snapshot of a lap, which is named by its number or `best`."""
    found = state.snapshot_of(lap_number(state, lap))
    if found is None:
        raise UserError(f"Run {state.run} has no lap {lap}; it has 0 to {len(state.laps)}.")
    return found
