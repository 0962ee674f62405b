"""What a hook answers, in the words of the agent that asks: stay, here is the brief; or go, and why."""

from __future__ import annotations

import re
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from untilgreen.core.model import Outcome
from untilgreen.core.state import RunState
from untilgreen.core.units import several
from untilgreen.engine.inside import Standing
from untilgreen.surfaces.text import inert_lines, short

WIDTH = 200
GO_ON = "/untilgreen go"
_ANGLES = "(The angle brackets of this brief are shown to you as &lt; and &gt;. Write them as they are.)"
"""Gemini CLI replaces them in what a hook adds to a prompt."""
IN_A_ROW = {"qwen": ("Qwen Code", 8), "copilot": ("GitHub Copilot CLI", 9)}
"""Agents that stop after so many laps whatever a hook says, and let nobody change that."""
_MUTE_AT_A_PROMPT = frozenset({"copilot", "qwen"})
"""Agents that show nothing of what a hook says about a prompt that it lets through."""
_SKILLS = frozenset({"codex"})
"""Agents that take our commands as skills, by a dollar sign; a slash is for commands of their own."""
_COMMAND = re.compile(r"(?<![\w/])/(?=(?:ralph|cancel-ralph|untilgreen)(?![\w/-]))")
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
    answer = replace(answer, toast=typed(answer.toast, agent), refused=typed(answer.refused, agent))
    said = _prompted(answer, agent) if event == "prompt" else _stopping(answer)
    if agent == "opencode" and said:
        said = {
            "brief": answer.brief,
            "toast": inert_lines(answer.toast),
            "refused": inert_lines(answer.refused),
        }
    return msgspec.json.encode(said) + b"\n" if said else b""


def typed(text: str, agent: str) -> str:
    """What is said to a person, with our commands as this agent takes them."""
    return _COMMAND.sub("$", text) if agent in _SKILLS else text


def _stopping(answer: Answer) -> dict[str, Any]:
    said: dict[str, Any] = {"decision": "block", "reason": answer.brief} if answer.brief else {}
    return said | _toast(answer.toast or answer.refused)


def _prompted(answer: Answer, agent: str) -> dict[str, Any]:
    if answer.refused:
        return {"decision": "block", "reason": inert_lines(answer.refused)}
    if agent in _MUTE_AT_A_PROMPT:
        told = "\n\n".join(part for part in (answer.brief, _passed_on(answer.toast)) if part)
        return _context(told, agent)
    told = f"{answer.brief}\n\n{_ANGLES}" if answer.brief and agent == "gemini" else answer.brief
    return _context(told, agent) | _toast(answer.toast)


def _context(told: str, agent: str) -> dict[str, Any]:
    """What the model is told together with a prompt."""
    if not told:
        return {}
    if agent == "copilot":
        return {"additionalContext": told}
    name = "BeforeAgent" if agent == "gemini" else "UserPromptSubmit"
    return {"hookSpecificOutput": {"hookEventName": name, "additionalContext": told}}


def _passed_on(toast: str) -> str:
    """Where an agent shows its user nothing that a hook says, the model has to."""
    return f"Tell the user this in a line of its own: untilgreen: {inert_lines(toast)}" if toast else ""


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
        toast = f"loop started, {toast}. End it with /cancel-ralph{_capped(standing.note.agent, most)}"
    return Answer(brief=brief.text, toast="\n".join([toast, *standing.warnings]))


def _capped(agent: str, most: int | str | None) -> str:
    """What a person has to know before a start: how many laps an agent with a cap goes on by itself."""
    name, laps = IN_A_ROW.get(agent, (agent, None))
    if laps is None or (isinstance(most, int) and most <= laps):
        return ""
    return f". {name} stops by itself after {laps} laps in a row: go on then with {GO_ON}"


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
