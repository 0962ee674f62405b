"""From the state to the next single thing to do; resume, seats and surfaces all use this function."""

from __future__ import annotations

from operator import attrgetter
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from untilgreen.core.scoring.gate_health import unrunnable
from untilgreen.core.scoring.known_verdicts import known_verdict
from untilgreen.core.scoring.measure import is_green
from untilgreen.core.values.decision import Finish
from untilgreen.core.values.events import Phase
from untilgreen.core.values.model import APPROVAL_GATE, INTEGRITY_GATE, GateSpec, Outcome
from untilgreen.core.values.state import HALTS, WAITS, Open, RunState

_kind = attrgetter("kind")
"""Faster than a generator, and mapped over every gate at each event."""
_LEAVES_THE_BEST = frozenset({Outcome.EXHAUSTED, Outcome.STUCK, Outcome.ACCEPTED})
"""After any other end the files stay as they are: green, or for a person to look at."""


class TakeSnapshot(Struct, frozen=True, kw_only=True, tag=True):
    """Save the current content of the workspace."""

    lap: int
    phase: Phase


class Work(Struct, frozen=True, kw_only=True, tag=True):
    """The agent's turn."""

    lap: int
    attempt: int
    agent: str


class AwaitTurn(Struct, frozen=True, kw_only=True, tag=True):
    """The agent works in its own session; its stop hook says when it is done."""

    lap: int


class CheckGates(Struct, frozen=True, kw_only=True, tag=True):
    """Run the gates of one stage that have given no verdict yet, side by side."""

    lap: int
    stage: int
    gates: tuple[str, ...]
    again: bool = False


class Decide(Struct, frozen=True, kw_only=True, tag=True):
    """Judge what has happened and say what follows."""

    lap: int


class TryRemedy(Struct, frozen=True, kw_only=True, tag=True):
    """Try a rung of the remedy ladder."""

    lap: int
    rung: str


class Restore(Struct, frozen=True, kw_only=True, tag=True):
    """Put an earlier snapshot back into the workspace."""

    lap: int
    snapshot: str
    why: str
    whole: bool = False
    """Also undo changes since the last snapshot: they can't be told from the interrupted turn's work."""


class AwaitAnswer(Struct, frozen=True, kw_only=True, tag=True):
    """Wait for a person; `until` is when the default is taken, None means never."""

    until: float | None


class TakeDefault(Struct, frozen=True, kw_only=True, tag=True):
    """Answer a question with its default, since nobody answered it."""

    choice: str


class AwaitResume(Struct, frozen=True, kw_only=True, tag=True):
    """Wait for the person who paused the run."""

    reason: str


class Wait(Struct, frozen=True, kw_only=True, tag=True):
    """Wait for a time, such as the end of a rate limit."""

    until: float
    reason: str


class Halt(Struct, frozen=True, kw_only=True, tag=True):
    """Nothing more can be done for now; the run stays open."""

    cause: str


class Conclude(Struct, frozen=True, kw_only=True, tag=True):
    """Record that the run is over."""

    outcome: Outcome
    reason: str


Step: TypeAlias = (
    TakeSnapshot
    | Work
    | AwaitTurn
    | CheckGates
    | Decide
    | TryRemedy
    | Restore
    | AwaitAnswer
    | TakeDefault
    | AwaitResume
    | Wait
    | Halt
    | Conclude
)


def next_step(state: RunState) -> Step | None:
    """What to do next; None when the run is over."""
    if state.outcome is not None:
        return None
    if state.ending is not None:
        return _last_things(state, state.ending)
    if state.away is not None or state.halted is not None:
        return Halt(cause=state.away or (state.halted.cause if state.halted else ""))
    if state.asked is not None:
        return _question(state)
    lap = state.open
    if lap is None:  # only a journal that untilgreen did not write gets here
        return Halt(cause="no lap is in progress")
    if not lap.offered:
        before = _before_the_turn(state, lap)
        if before is not None:
            return before
    return _lap_step(state, lap)


def still_wanted(step: Step, state: RunState) -> bool:
    """Whether a step that is in progress is still needed; otherwise it is cancelled."""
    wanted = next_step(state)
    if isinstance(step, CheckGates) and isinstance(wanted, CheckGates):
        return (step.lap, step.stage, step.again) == (wanted.lap, wanted.stage, wanted.again)
    return wanted == step


def _last_things(state: RunState, finish: Finish) -> Step:
    lap = state.open
    if lap is not None and lap.snapshot is None and (lap.offered or (lap.attempt > 1 and lap.base is None)):
        return TakeSnapshot(lap=lap.number, phase="final")
    target = finish.leave
    if target is None and state.plan.leave == "best" and finish.outcome in _LEAVES_THE_BEST and state.best:
        target = state.best.lap
    if target is not None and not state.left:
        snapshot = state.snapshot_of(target)
        if snapshot is not None and snapshot != state.tree:
            return Restore(lap=target, snapshot=snapshot, why=f"lap {target} has the files to keep")
    return Conclude(outcome=finish.outcome, reason=finish.reason)


def _question(state: RunState) -> Step | None:
    asked = state.asked
    if asked is None or state.answer is not None:
        return Decide(lap=state.laps[-1].number if state.laps else 0)
    if asked.until is None:
        return AwaitAnswer(until=None)
    if not state.answers:
        return TakeDefault(choice=asked.default)
    return AwaitAnswer(until=state.asked_at + asked.until)


def _before_the_turn(state: RunState, lap: Open) -> Step | None:
    if state.restore_due is not None:
        snapshot = state.snapshot_of(state.restore_due)
        if snapshot is not None:
            return Restore(lap=state.restore_due, snapshot=snapshot, why=f"back to lap {state.restore_due}")
    if state.remedy_due is not None:
        return TryRemedy(lap=lap.number, rung=state.remedy_due)
    if state.pause is None:
        return None
    if state.pause.until is None:
        return AwaitResume(reason=state.pause.reason)
    return Wait(until=state.pause.until, reason=state.pause.reason)


def _lap_step(state: RunState, lap: Open) -> Step:
    if lap.number > 0:
        if lap.base is None:
            return TakeSnapshot(lap=lap.number, phase="base")
        if lap.in_session:
            return AwaitTurn(lap=lap.number)
        if lap.reply is None:
            return Work(lap=lap.number, attempt=lap.attempt, agent=state.agent)
        if lap.reply.error in WAITS or lap.reply.error in HALTS:
            return Decide(lap=lap.number)
        if lap.interrupted and state.plan.on_interrupt == "rewind" and not lap.rewound:
            back = lap.number - 1
            return Restore(lap=back, snapshot=lap.base, why="the turn was interrupted", whole=True)
    if lap.snapshot is None:
        return TakeSnapshot(lap=lap.number, phase="turn")
    gates = _gates_due(state, lap)
    if gates is not None:
        waiting = [gate.name for gate in _waiting(state, lap, gates)]
        runs = tuple(name for name in gates.gates if name not in waiting)
        return replace(gates, gates=runs) if runs else AwaitAnswer(until=None)
    if is_green(state.plan, lap.verdicts) and not lap.confirmed:
        return TakeSnapshot(lap=lap.number, phase="confirm")
    return Decide(lap=lap.number)


def gate_waiting_for_people(state: RunState) -> GateSpec | None:
    """The approval gate that waits for people, once nothing else in its stage is left to do."""
    lap = state.open
    if lap is None or lap.snapshot is None or APPROVAL_GATE not in map(_kind, state.plan.gates):
        return None
    due = _gates_due(state, lap)
    if due is None:
        return None
    waiting = _waiting(state, lap, due)
    return waiting[0] if len(waiting) == len(due.gates) else None


def _waiting(state: RunState, lap: Open, due: CheckGates) -> list[GateSpec]:
    """Approval gates that still wait for people."""
    asking = [gate for gate in state.plan.gates if gate.kind == APPROVAL_GATE and gate.name in due.gates]
    return [gate for gate in asking if known_verdict(state, lap, gate) is None]


def _gates_due(state: RunState, lap: Open) -> CheckGates | None:
    """Stage by stage; if a stage fails, later stages are skipped."""
    gates = state.plan.gates
    for stage in sorted({gate.stage for gate in gates}):
        members = [gate for gate in gates if gate.stage == stage]
        due = tuple(gate.name for gate in members if gate.name not in lap.verdicts)
        if due:
            return CheckGates(lap=lap.number, stage=stage, gates=due, again=lap.rechecked)
        if any(gate.required and lap.verdicts[gate.name].status in ("fail", "error") for gate in members):
            return _tried_early(state, lap)
    return None


def _tried_early(state: RunState, lap: Open) -> CheckGates | None:
    """Before the first lap, integrity tests whether gates can work in its rooms, even if some are red."""
    guards = [gate for gate in state.plan.gates if gate.kind == INTEGRITY_GATE]
    due = tuple(gate.name for gate in guards if gate.name not in lap.verdicts)
    if lap.number > 0 or not due or any(unrunnable(verdict) for verdict in lap.verdicts.values()):
        return None
    return CheckGates(lap=0, stage=guards[0].stage, gates=due, again=lap.rechecked)
