"""What a hook answers, in the words of the agent that asks: stay, here is the brief; or go, and why."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from untilgreen.core.model import Outcome
from untilgreen.core.state import RunState
from untilgreen.core.units import several
from untilgreen.engine.inside import Standing
from untilgreen.surfaces.text import inert_lines, short

WIDTH = 200
GO_ON = "/untilgreen go"
_WELL = (Outcome.CONVERGED, Outcome.ACCEPTED, Outcome.CLAIMED)
_ENDED = {Outcome.CANCELLED: "cancelled"}


class Answer(Struct, frozen=True, kw_only=True):
    """One answer: what the session is told, what the person sees, or nothing at all."""

    brief: str = ""
    toast: str = ""
    refused: str = ""
    """Why a prompt is not handed to the model."""


SILENCE = Answer()


def written(answer: Answer, event: str, agent: str) -> bytes:
    """The answer as the agent reads it; none is no output."""
    said = _prompted(answer) if event == "prompt" else _stopping(answer)
    if agent == "opencode" and said:
        said = {"brief": answer.brief, "toast": answer.toast or answer.refused}
    return msgspec.json.encode(said) + b"\n" if said else b""


def _stopping(answer: Answer) -> dict[str, Any]:
    said: dict[str, Any] = {"decision": "block", "reason": answer.brief} if answer.brief else {}
    return said | _toast(answer.toast or answer.refused)


def _prompted(answer: Answer) -> dict[str, Any]:
    if answer.refused:
        return {"decision": "block", "reason": answer.refused}
    if not answer.brief:
        return _toast(answer.toast)
    told = {"hookEventName": "UserPromptSubmit", "additionalContext": answer.brief}
    return {"hookSpecificOutput": told} | _toast(answer.toast)


def _toast(text: str) -> dict[str, Any]:
    return {"systemMessage": f"untilgreen: {inert_lines(text)}"} if text else {}


def of(standing: Standing, *, begun: bool = False) -> Answer:
    """What follows from how the run stands now; a loop that was begun just now says how it is ended."""
    brief = standing.brief
    if brief is None:
        return Answer(toast="\n".join([resting(standing.state), *standing.warnings]))
    most = standing.state.plan.limits.iterations
    toast = f"lap {brief.lap}" + (f" of {most}" if most else "") + f", run {standing.state.run}"
    if begun:
        toast = f"loop started, {toast}. End it with /cancel-ralph"
    return Answer(brief=brief.text, toast="\n".join([toast, *standing.warnings]))


def resting(state: RunState) -> str:
    """Why the session may stop, and how to go on where the run is not over."""
    if state.outcome is not None:
        done = "complete" if state.outcome in _WELL else _ENDED.get(state.outcome, "stopped")
        after = f"after {several(len(state.iterations), 'lap')}"
        return f"{done} {after}: {state.outcome}, {short(state.reason, WIDTH)} (run {state.run})"
    if state.asked is not None and state.answer is None:
        choices = " | ".join(state.asked.choices)
        return (
            f"run {state.run} asks: {state.asked.question}\n"
            f"Answer in a terminal with `untilgreen answer {state.run} CHOICE` ({choices}), then: {GO_ON}"
        )
    if state.pause is not None:
        return f"run {state.run} is paused: {short(state.pause.reason, WIDTH)}. Go on with: {GO_ON}"
    if state.away is not None:
        return f"run {state.run} was interrupted. Go on with: {GO_ON}"
    return f"run {state.run} waits. Go on with: {GO_ON}"
