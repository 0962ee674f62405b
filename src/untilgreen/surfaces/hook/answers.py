"""What a hook answers, in the format of each agent: stay and work on this brief, or stop, and why."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from untilgreen.core.values.model import CLAIM_GATE, INTEGRITY_GATE, Outcome
from untilgreen.core.values.state import RunState
from untilgreen.core.values.units import several, show_duration
from untilgreen.engine.store.session_runs import SessionRun
from untilgreen.regex import regex
from untilgreen.surfaces.install.targets import GO, TARGETS, Target, target_of
from untilgreen.surfaces.text.questions import choices_of, question_lines
from untilgreen.surfaces.text.safe_text import inert_lines, short

WIDTH = 200
_ANGLES = (
    "(The angle brackets of this brief are shown to you as &lt; and &gt;. Write them as plain brackets.)"
)
_COMMAND = regex(r"(?<![\w/])/(?=(?:ralph|cancel-ralph|untilgreen)(?![\w/-]))")


class Answer(Struct, frozen=True, kw_only=True):
    """One answer: what the agent is told, what the person sees, or nothing."""

    brief: str = ""
    toast: str = ""
    refused: str = ""
    """Why a prompt does not reach the model."""
    again: float | None = None
    """In how many seconds the loop can continue, if it waits only for time to pass."""


SILENCE = Answer()


def written(answer: Answer, event: str, agent: str) -> bytes:
    """The answer as the agent reads it; silence is no output."""
    target = target_of(agent)
    answer = replace(answer, toast=typed(answer.toast, agent), refused=typed(answer.refused, agent))
    said = _prompted(answer, target) if event == "prompt" else _stopping(answer)
    if target.answer == "opencode" and said:
        said = {
            "brief": answer.brief,
            "toast": inert_lines(answer.toast),
            "refused": inert_lines(answer.refused),
            "again": answer.again,
        }
    return msgspec.json.encode(said) + b"\n" if said else b""


def typed(text: str, agent: str) -> str:
    """A message to a person, with our commands as they are typed in this agent."""
    mark = TARGETS[agent].command_mark if agent in TARGETS else "/"
    return _COMMAND.sub(lambda _: mark, text)


def _stopping(answer: Answer) -> dict[str, Any]:
    said: dict[str, Any] = {"decision": "block", "reason": answer.brief} if answer.brief else {}
    return said | _toast(answer.toast or answer.refused)


def _prompted(answer: Answer, target: Target) -> dict[str, Any]:
    if answer.refused:
        return {"decision": "block", "reason": inert_lines(answer.refused)}
    if not target.shows_prompt_messages:
        told = "\n\n".join(part for part in (answer.brief, _passed_on(answer.toast)) if part)
        return _context(told, target)
    told = f"{answer.brief}\n\n{_ANGLES}" if answer.brief and target.escapes_angles else answer.brief
    return _context(told, target) | _toast(answer.toast)


def _context(told: str, target: Target) -> dict[str, Any]:
    """What the model is told together with a prompt."""
    if not told:
        return {}
    if target.answer == "copilot":
        return {"additionalContext": told}
    return {"hookSpecificOutput": {"hookEventName": target.prompt_event, "additionalContext": told}}


def _passed_on(toast: str) -> str:
    """If an agent does not show a hook's message to its user, the model has to pass it on."""
    return f"Tell the user this, on a line of its own: untilgreen: {inert_lines(toast)}" if toast else ""


def _toast(text: str) -> dict[str, Any]:
    return {"systemMessage": f"untilgreen: {inert_lines(text)}"} if text else {}


def of(session_run: SessionRun, *, begun: bool = False) -> Answer:
    """The answer that the run's state calls for; after a start, it says how to end the loop."""
    brief = session_run.brief
    if brief is None:
        toast = "\n".join([resting(session_run.state), *session_run.warnings])
        return Answer(toast=toast, again=_seconds_to_wait(session_run.state))
    most = session_run.state.plan.most_laps
    toast = f"lap {brief.lap}" + (f" of {most}" if most else "") + f", run {session_run.state.run}"
    if begun:
        capped = _capped(session_run.note.agent, most)
        toast = f"loop started, {toast}. {_goal(session_run.state)} End it with /cancel-ralph{capped}"
    return Answer(brief=brief.text, toast="\n".join([toast, *session_run.warnings]))


def _goal(state: RunState) -> str:
    """When the loop ends: what the agent has to say, and which gates check it."""
    promise, ours = state.plan.promise, (CLAIM_GATE, INTEGRITY_GATE)
    gates = [gate.name for gate in state.plan.gates if gate.required and gate.kind not in ours]
    said = f"the agent says {promise.text!r}" if promise else ""
    if not gates:
        return f"It ends when {said}; no gate checks that."
    are = "is" if len(gates) == 1 else "are"
    green = f"gate{'s' * (len(gates) > 1)} {', '.join(gates)} {are} green"
    return f"It ends when {' and '.join(part for part in (said, green) if part)}."


def _seconds_to_wait(state: RunState) -> float | None:
    pause = state.pause
    if state.outcome is not None or pause is None or pause.until is None:
        return None
    return max(1.0, pause.until - state.now)


def _capped(agent: str, most: int | str | None) -> str:
    """Tell the person at the start if an agent stops after some laps no matter what a hook says."""
    target = TARGETS.get(agent)
    if target is None or target.laps_in_a_row is None:
        return ""
    if isinstance(most, int) and most <= target.laps_in_a_row:
        return ""
    return f". {target.title} stops after {target.laps_in_a_row} laps in a row; continue with {GO}"


def resting(state: RunState) -> str:
    """Why the session may stop, and how to continue a run that is not over."""
    if state.outcome is not None:
        return _ended(state, state.outcome)
    if choices_of(state):
        lines = question_lines(state, WIDTH)
        return "\n".join([f"run {state.run} asks:", *lines, "Answer with its number: /untilgreen answer 1"])
    if state.halted is not None:
        why = short(state.halted.detail or state.halted.cause, WIDTH)
        return f"run {state.run} can't continue: {why}. Fix that, then type: {GO}"
    if state.pause is not None:
        return f"run {state.run} is paused: {short(state.pause.reason, WIDTH)}. {_how_to_continue(state)}"
    if state.away is not None:
        return f"run {state.run} was interrupted. Continue with: {GO}"
    return f"run {state.run} is waiting. Continue with: {GO}"


def _how_to_continue(state: RunState) -> str:
    seconds = _seconds_to_wait(state)
    return f"Continue with: {GO}" if seconds is None else f"Continue in {show_duration(seconds)} with: {GO}"


def _ended(state: RunState, outcome: Outcome) -> str:
    after, reason = f"after {several(len(state.laps), 'lap')}", short(state.reason, WIDTH)
    if outcome is Outcome.CANCELLED:
        return f"loop cancelled {after} (run {state.run})"
    word = "complete" if outcome.good else "stopped"
    return f"{word} {after}: {outcome}, {reason} (run {state.run})"
