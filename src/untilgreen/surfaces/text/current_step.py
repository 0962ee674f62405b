"""What a run is doing right now, from its state: the same in every view and after every restart."""

from __future__ import annotations

from typing import assert_never

from untilgreen.core.loop.step import (
    AwaitAnswer,
    AwaitResume,
    AwaitTurn,
    CheckGates,
    Conclude,
    Decide,
    Halt,
    Restore,
    Step,
    TakeDefault,
    TakeSnapshot,
    TryRemedy,
    Wait,
    Work,
    next_step,
)
from untilgreen.core.values.state import RunState
from untilgreen.core.values.units import show_duration
from untilgreen.surfaces.text.event_lines import agent_words, pause_words
from untilgreen.surfaces.text.safe_text import inert, short

WIDTH = 200


def current_step(state: RunState, now: float, flags: str = "") -> str:
    """One line; commands in it end with `flags`."""
    step = next_step(state)
    if step is None:
        return f"finished: {state.outcome}"
    return _words(step, state, now, flags) + _afterwards(state, step)


def _words(step: Step, state: RunState, now: float, flags: str) -> str:
    match step:
        case Work(lap=lap):
            return f"{agent_words(state.agent)} is working on lap {lap}"
        case AwaitTurn(lap=lap):
            return f"{agent_words(state.agent)} is working on lap {lap} in its own session"
        case CheckGates(gates=gates):
            return f"running {'gate' if len(gates) == 1 else 'gates'} {inert(', '.join(gates))}"
        case TakeSnapshot():
            return "saving a snapshot of the files"
        case Restore(lap=lap):
            return f"restoring the files of lap {lap}"
        case Decide() | TakeDefault() | TryRemedy():
            return "deciding what comes next"
        case AwaitAnswer(until=until):
            return "waiting for your answer" + _default_words(state, until, now)
        case AwaitResume(reason=reason):
            command = f"untilgreen resume {state.run}{flags}"
            return f"paused; continue with: {command} ({short(reason, WIDTH)})"
        case Wait():
            return (
                pause_words(state.pause, _whole_seconds_before(step.until, now)) if state.pause else "waiting"
            )
        case Halt(cause=cause):
            why = (state.halted.detail or state.halted.cause) if state.halted else cause
            return f"stopped: {short(why, WIDTH)}"
        case Conclude():
            return "finishing"
        case _:
            assert_never(step)


def _whole_seconds_before(until: float, now: float) -> float:
    """Now, rounded to whole seconds before that time: changing tenths would distract."""
    return until - int(max(0.0, until - now))


def _default_words(state: RunState, until: float | None, now: float) -> str:
    """What happens to a question that gets no answer, and when."""
    if until is None or state.asked is None:
        return ""
    left = show_duration(float(int(max(0.0, until - now))))
    return f"; default in {left}: {inert(state.asked.default)}"


def _afterwards(state: RunState, step: Step) -> str:
    """A stop or pause that was requested while a turn or a gate is in progress."""
    if state.ending is not None or isinstance(step, AwaitResume | Wait | Halt):
        return ""
    if state.stop is not None:
        return "; stopping after this lap"
    return "; pausing after this turn" if state.pause is not None else ""
