"""Commands from outside, as events; taken at any time, even in the middle of a step."""

from __future__ import annotations

from typing import TypeAlias

from untilgreen.core.loop import session_arrivals
from untilgreen.core.loop.remedies import DIFFERENT
from untilgreen.core.loop.session_arrivals import Arriving
from untilgreen.core.loop.step import gate_waiting_for_people
from untilgreen.core.values.decision import CONTINUE, REVIEW, ROLLBACK, SWITCH
from untilgreen.core.values.events import (
    Allowed,
    Answered,
    Approved,
    Cancelled,
    Event,
    LapsAdded,
    Paused,
    Resumed,
    Steered,
    StopRequested,
)
from untilgreen.core.values.model import GateSpec
from untilgreen.core.values.state import RunState
from untilgreen.errors import nearest

ALLOW, APPROVE, REJECT = "allow", "approve", "reject"
_TAKE_A_NOTE = frozenset({APPROVE, REJECT, CONTINUE, DIFFERENT, REVIEW})
"""Choices that take no argument: words after them are a note for the agent."""
LONGEST_NOTE = 8_000
MOST_ADDED = 1_000


class Stop(Arriving, frozen=True, kw_only=True, omit_defaults=True):
    """End the run after the current lap."""

    reason: str = "stopped by command"


class Cancel(Arriving, frozen=True, kw_only=True, omit_defaults=True):
    """End the run now."""

    reason: str = "cancelled by command"


class Pause(Arriving, frozen=True, kw_only=True, omit_defaults=True):
    """Pause the run after the current turn."""

    reason: str = "paused by command"


class Resume(Arriving, frozen=True, kw_only=True, omit_defaults=True):
    """End the pause, even one with a set end."""


class Steer(Arriving, frozen=True, kw_only=True, omit_defaults=True):
    """Tell the agent something with its next brief."""

    id: str
    note: str


class AddLaps(Arriving, frozen=True, kw_only=True, omit_defaults=True):
    """Let the run have more laps."""

    laps: int


class Answer(Arriving, frozen=True, kw_only=True, omit_defaults=True):
    """Answer the open question."""

    question: str = ""
    """The id of the question; empty means the open one."""
    choice: str
    argument: str | None = None
    note: str = ""


Arrival: TypeAlias = Stop | Cancel | Pause | Resume | Steer | AddLaps | Answer | session_arrivals.FromASession


def receive(state: RunState, arrival: Arrival) -> tuple[Event, ...]:
    """The events that follow from an arrival; the caller has already checked `refusal`."""
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
        case AddLaps(laps=laps):
            return (LapsAdded(at=at, by=by, laps=laps),)
        case Answer():
            return (_answer(state, arrival, at),)
        case _:
            return session_arrivals.receive(state, arrival, at)


def refusal(state: RunState, arrival: Arrival) -> str:
    """Why an arrival is refused, as a sentence; empty if it is accepted."""
    if state.outcome is not None:
        return f"Run {state.run} has ended: {state.outcome}."
    if state.ending is not None:
        return f"Run {state.run} is ending: {state.ending.reason}."
    match arrival:
        case Stop():
            return "A stop after this lap was already requested." if state.stop else ""
        case Cancel():
            return ""
        case Pause():
            return f"Run {state.run} is already paused." if state.pause else ""
        case Resume():
            return "" if state.pause else f"Run {state.run} is not paused."
        case Steer(id=identity, note=note):
            if any(known.id == identity for known in state.notes):
                return "This note was already received."
            return _too_long(note) or ("" if note.strip() else "The note is empty.")
        case AddLaps(laps=laps):
            return "" if 1 <= laps <= MOST_ADDED else f"Add 1 to {MOST_ADDED} laps, not {laps}."
        case Answer():
            return _refused_answer(state, arrival)
        case _:
            return session_arrivals.refusal(state, arrival)


def question_id(state: RunState) -> str:
    """The id of the open question, different from every earlier one; empty if there is none."""
    if state.open_question is not None:
        return f"q{state.questions}"
    gate = gate_waiting_for_people(state) if state.asked is None else None
    return f"{gate.name}-{(state.open.snapshot or '')[:12]}" if gate and state.open else ""


def _answer(state: RunState, answer: Answer, at: float) -> Event:
    """Three kinds of answer: allow a protected path, approve the files, or reply to a question."""
    if answer.choice == ALLOW:
        return Allowed(at=at, by=answer.by, path=answer.argument or "")
    gate = gate_waiting_for_people(state)
    if gate is not None and state.open is not None and answer.choice in (APPROVE, REJECT):
        return Approved(
            at=at,
            by=answer.by,
            gate=gate.name,
            snapshot=state.open.snapshot or "",
            yes=answer.choice == APPROVE,
            note=_note(answer),
        )
    argument = None if answer.choice in _TAKE_A_NOTE else answer.argument
    return Answered(at=at, by=answer.by, choice=answer.choice, argument=argument, note=_note(answer))


def _note(answer: Answer) -> str:
    told = answer.argument if answer.choice in _TAKE_A_NOTE else None
    return "\n\n".join(filter(None, (told, answer.note)))


def _refused_approval(state: RunState, gate: GateSpec, answer: Answer) -> str:
    people = [str(name) for name in gate.options.get("people", ())]
    if answer.choice not in (APPROVE, REJECT):
        return f"Gate {gate.name!r} waits for {APPROVE!r} or {REJECT!r}, not for {answer.choice!r}."
    if people and answer.by not in people:
        return f"{answer.by!r} can't answer for gate {gate.name!r}. {nearest(answer.by, people)}"
    snapshot = state.open.snapshot if state.open else None
    said = [each.by for each in state.approvals if each.gate == gate.name and each.snapshot == snapshot]
    return f"{answer.by!r} has already answered." if answer.by in said else ""


def _refused_answer(state: RunState, answer: Answer) -> str:
    asked = state.asked
    if too_long := _too_long(_note(answer)):
        return too_long
    if answer.choice == ALLOW:
        return "" if answer.argument else f"{ALLOW!r} needs a path, for example '{ALLOW} tests/test_a.py'."
    if answer.question and answer.question != question_id(state):
        return f"Question {answer.question!r} is no longer open. See `untilgreen show {state.run}`."
    gate = gate_waiting_for_people(state) if asked is None else None
    if gate is not None:
        return _refused_approval(state, gate, answer)
    if asked is None or state.answer is not None:
        return f"Run {state.run} is not asking anything."
    if answer.choice not in asked.choices:
        near = nearest(answer.choice, asked.choices)
        return f"{answer.choice!r} is not an answer to the question of run {state.run}. {near}"
    if answer.choice == ROLLBACK and not _is_lap(state, answer.argument):
        return f"{ROLLBACK!r} needs a lap from 0 to {len(state.laps)}, for example '{ROLLBACK} 1'."
    if answer.choice == SWITCH and answer.argument not in state.plan.agent_names():
        return f"{SWITCH!r} needs an agent. {nearest(answer.argument or '', state.plan.agent_names())}"
    if answer.choice == REVIEW and state.pause:
        return f"Run {state.run} is already paused."
    return ""


def _too_long(note: str) -> str:
    if len(note) <= LONGEST_NOTE:
        return ""
    size = f"{len(note):,} characters; {LONGEST_NOTE:,} are allowed"
    return f"The note has {size}. Put it in a file and name the file."


def _is_lap(state: RunState, argument: str | None) -> bool:
    return (
        argument is not None
        and argument.isascii()
        and argument.isdigit()
        and len(argument) < 10
        and state.snapshot_of(int(argument)) is not None
    )
