"""What comes from outside, and what it makes happen: pure and total, also in the middle of a step."""

from __future__ import annotations

from typing import TypeAlias

from untilgreen.core import inside
from untilgreen.core.arriving import Arriving
from untilgreen.core.decision import REVIEW
from untilgreen.core.events import (
    Allowed,
    Answered,
    Approved,
    Cancelled,
    Event,
    Paused,
    Resumed,
    Steered,
    StopRequested,
)
from untilgreen.core.model import GateSpec
from untilgreen.core.state import RunState
from untilgreen.core.step import undecided
from untilgreen.errors import nearest

ROLLBACK = "rollback"
SWITCH = "agent"
ALLOW, APPROVE, REJECT = "allow", "approve", "reject"
LONGEST_NOTE = 8_000


class Stop(Arriving, frozen=True, kw_only=True, omit_defaults=True):
    """End the run after the lap under way."""

    reason: str = "stopped by command"


class Cancel(Arriving, frozen=True, kw_only=True, omit_defaults=True):
    """End the run now."""

    reason: str = "cancelled by command"


class Pause(Arriving, frozen=True, kw_only=True, omit_defaults=True):
    """Start no further turn until told to."""

    reason: str = "paused by command"


class Resume(Arriving, frozen=True, kw_only=True, omit_defaults=True):
    """End the pause, also one that waits for a time."""


class Steer(Arriving, frozen=True, kw_only=True, omit_defaults=True):
    """Tell the agent something with its next brief."""

    id: str
    note: str


class Answer(Arriving, frozen=True, kw_only=True, omit_defaults=True):
    """Answer the question that stands."""

    choice: str
    argument: str | None = None
    note: str = ""


Arrival: TypeAlias = Stop | Cancel | Pause | Resume | Steer | Answer | inside.FromASession


def receive(state: RunState, arrival: Arrival) -> tuple[Event, ...]:
    """The events that an arrival makes; none means that it was refused, and `refusal` says why."""
    if refusal(state, arrival):
        return ()
    at, by = max(state.now, arrival.at), arrival.by
    match arrival:
        case Stop(reason=reason):
            return (StopRequested(at=at, by=by, reason=reason),)
        case Cancel(reason=reason):
            return (Cancelled(at=at, by=by, reason=reason),)
        case Pause(reason=reason):
            return (Paused(at=at, reason=reason),)
        case Resume():
            return (Resumed(at=at, by=by or "command"),)
        case Steer(id=identity, note=note):
            return (Steered(at=at, by=by, id=identity, note=note),)
        case Answer():
            return (_answer(state, arrival, at),)
        case _:
            return inside.receive(state, arrival, at)


def refusal(state: RunState, arrival: Arrival) -> str:
    """Why an arrival can't be taken, as a sentence; empty when it can."""
    if state.outcome is not None:
        return f"Run {state.run} has ended: {state.outcome}."
    if state.ending is not None:
        return f"Run {state.run} is ending: {state.ending.reason}."
    match arrival:
        case Stop():
            return "A stop after this lap was asked for already." if state.stop else ""
        case Cancel():
            return ""
        case Pause():
            return f"Run {state.run} is paused already." if state.pause else ""
        case Resume():
            return "" if state.pause else f"Run {state.run} is not paused."
        case Steer(id=identity, note=note):
            if any(known.id == identity for known in state.notes):
                return "This note was taken already."
            return _too_long(note) or ("" if note.strip() else "The note is empty.")
        case Answer():
            return _refused_answer(state, arrival)
        case _:
            return inside.refusal(state, arrival)


def _answer(state: RunState, answer: Answer, at: float) -> Event:
    """Three kinds of answer: about a protected path, about what the files hold, or to a question."""
    if answer.choice == ALLOW:
        return Allowed(at=at, by=answer.by, path=answer.argument or "")
    gate = undecided(state)
    if gate is not None and state.open is not None and answer.choice in (APPROVE, REJECT):
        return Approved(
            at=at,
            by=answer.by,
            gate=gate.name,
            snapshot=state.open.snapshot or "",
            yes=answer.choice == APPROVE,
            note=answer.note,
        )
    return Answered(at=at, by=answer.by, choice=answer.choice, argument=answer.argument, note=answer.note)


def _refused_approval(state: RunState, gate: GateSpec, answer: Answer) -> str:
    people = [str(name) for name in gate.options.get("people", ())]
    if answer.choice not in (APPROVE, REJECT):
        return f"Gate {gate.name!r} waits for {APPROVE!r} or {REJECT!r}, not for {answer.choice!r}."
    if people and answer.by not in people:
        return f"{answer.by!r} is not asked by gate {gate.name!r}. {nearest(answer.by, people)}"
    snapshot = state.open.snapshot if state.open else None
    said = [each.by for each in state.approvals if each.gate == gate.name and each.snapshot == snapshot]
    return f"{answer.by!r} has answered already." if answer.by in said else ""


def _refused_answer(state: RunState, answer: Answer) -> str:
    asked = state.asked
    if too_long := _too_long(answer.note):
        return too_long
    if answer.choice == ALLOW:
        return "" if answer.argument else f"{ALLOW!r} needs a path, for example '{ALLOW} tests/test_a.py'."
    gate = undecided(state) if asked is None else None
    if gate is not None:
        return _refused_approval(state, gate, answer)
    if asked is None or state.answer is not None:
        return f"Run {state.run} asks nothing at the moment."
    if answer.choice not in asked.choices:
        return (
            f"{answer.choice!r} is no answer to {asked.question!r}. {nearest(answer.choice, asked.choices)}"
        )
    if answer.choice == ROLLBACK and not _is_lap(state, answer.argument):
        return f"{ROLLBACK!r} needs a lap from 0 to {len(state.iterations)}, for example '{ROLLBACK} 1'."
    if answer.choice == SWITCH and answer.argument not in state.plan.agent_names():
        return f"{SWITCH!r} needs an agent. {nearest(answer.argument or '', state.plan.agent_names())}"
    if answer.choice == REVIEW and state.pause:
        return f"Run {state.run} is paused already."
    return ""


def _too_long(note: str) -> str:
    if len(note) <= LONGEST_NOTE:
        return ""
    return f"The note has {len(note):,} characters of {LONGEST_NOTE:,}. Put it in a file and name that."


def _is_lap(state: RunState, argument: str | None) -> bool:
    return (
        argument is not None
        and argument.isascii()
        and argument.isdigit()
        and len(argument) < 10
        and state.snapshot_of(int(argument)) is not None
    )
