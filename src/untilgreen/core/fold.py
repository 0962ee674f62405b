"""From events to state: the only place where a run's state comes from."""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from msgspec.structs import replace

from untilgreen.core.decision import REVIEW, Ask, Continue, Finish
from untilgreen.core.events import (
    AgentSwitched,
    Allowed,
    Answered,
    Approved,
    Attached,
    BriefOffered,
    Cancelled,
    Decided,
    Event,
    GateChecked,
    Halted,
    Interrupted,
    LapVoided,
    LetGo,
    Paused,
    RemedyTried,
    Restored,
    Resumed,
    RunFinished,
    RunStarted,
    SnapshotTaken,
    Steered,
    StopRequested,
    TurnEnded,
)
from untilgreen.core.measure import close
from untilgreen.core.model import REMEMBERS, Outcome, Reply
from untilgreen.core.state import Note, Open, RunState
from untilgreen.core.step import undecided
from untilgreen.core.turns import offered, turn_ended
from untilgreen.errors import JournalDamaged


def fold(events: Iterable[Event]) -> RunState | None:
    """The state after these events; None where nothing has happened yet."""
    state: RunState | None = None
    for event in events:
        state = apply(state, event)
    return state


def apply(state: RunState | None, event: Event) -> RunState:
    """The state after one more event."""
    if isinstance(event, RunStarted):
        if state is not None:
            raise JournalDamaged(f"The journal of run {state.run} starts a second run, {event.run}.")
        return RunState(
            run=event.run,
            plan=event.plan,
            now=event.at,
            agent=event.plan.agents[0].name,
            open=Open(number=0 if event.plan.baseline else 1, started=event.at),
        )
    if state is None:
        raise JournalDamaged(f"The journal begins with {type(event).__name__} instead of RunStarted.")
    return _apply(_tick(state, event), event)


def _apply(state: RunState, event: Event) -> RunState:  # noqa: C901 - one case per event
    lap = state.open
    match event:
        case Attached():
            return _attached(state, event)
        case SnapshotTaken():
            return _snapshot_taken(state, event)
        case BriefOffered() if lap:
            return offered(state, lap, event)
        case LetGo() if lap:
            return replace(state, open=replace(lap, own_turn=True))
        case TurnEnded() if lap:
            return turn_ended(state, lap, event)
        case GateChecked() if lap:
            return _gate_checked(state, lap, event)
        case Decided():
            return _decided(state, event)
        case LapVoided() if lap:
            return _again(state, lap)
        case RemedyTried():
            return _remedy_tried(state, event)
        case Restored():
            return _restored(state, event)
        case Paused():
            return _paused(state, event)
        case Resumed():
            return replace(state, pause=None)
        case AgentSwitched() if lap:
            return replace(_again(state, lap), agent=event.agent)
        case Halted():
            halted = replace(state, halted=event)
            return _again(halted, lap) if lap else halted
        case Interrupted():
            return replace(state, away=event.signal)
        case Steered():
            return replace(state, notes=(*state.notes, Note(id=event.id, text=event.note, by=event.by)))
        case StopRequested():
            return _stop_requested(state, event)
        case Cancelled():
            return replace(state, ending=_cancelled(event.reason), asked=None)
        case Answered():
            return _answered(state, event)
        case Allowed():
            return replace(state, allowed=(*state.allowed, event.path))
        case Approved():
            return replace(state, approvals=(*state.approvals, event))
        case RunFinished():
            return _finished(state, event)
        case (
            RunStarted()
            | BriefOffered()
            | LetGo()
            | TurnEnded()
            | GateChecked()
            | LapVoided()
            | AgentSwitched()
        ):
            raise JournalDamaged(f"{type(event).__name__} stands where no lap is under way.")
        case _:
            assert_never(event)


def _tick(state: RunState, event: Event) -> RunState:
    """Time only goes forward, and runs only while somebody drives and nobody waits."""
    now = max(state.now, event.at)
    passed = now - state.now
    if state.pause is not None and state.pause.cause is not None:
        return replace(state, now=now, waited=state.waited + passed)
    resting = state.pause and not (state.open and state.open.offered)  # a pause lets the lap under way go on
    person = resting or state.asked or state.halted or state.away or undecided(state)
    still = person or (isinstance(event, Attached) and not _same_session(state, event))
    return replace(state, now=now, elapsed=state.elapsed if still else state.elapsed + passed)


def _same_session(state: RunState, event: Attached) -> bool:
    """Whether it is the hook of the session that works on the lap: that turn is alive."""
    working = state.open is not None and state.open.in_session
    return working and event.seat == "session" and event.session == state.session


def _attached(state: RunState, event: Attached) -> RunState:
    asked_to_leave, lap, living = state.away is not None, state.open, _same_session(state, event)
    state = replace(
        state, seat=event.seat, session=event.session, answers=event.answers, halted=None, away=None
    )
    if lap is None or not lap.offered or lap.reply is not None or living or state.ending:
        return state
    closed = replace(lap, reply=Reply(error="interrupted"), interrupted=True)
    if asked_to_leave:  # a person's Ctrl-C is no failure of the agent's
        return replace(state, open=closed)
    return replace(state, open=closed, errors=state.errors + 1, last_error="interrupted: its driver died")


def _snapshot_taken(state: RunState, event: SnapshotTaken) -> RunState:
    known, lap = state.tree, state.open
    commits = (*state.commits, *event.commits)
    state = replace(state, tree=event.snapshot, head=event.head or state.head, commits=commits)
    if lap is None or event.phase == "final":
        return replace(state, open=None)
    if event.phase == "base":
        first = known is not None and lap.attempt == 1
        outside = (known, event.snapshot) if first else lap.outside
        return replace(state, open=replace(lap, base=event.snapshot, outside=outside))
    if event.phase == "turn":
        return replace(state, open=replace(lap, snapshot=event.snapshot, changes=event.changes))
    if event.snapshot == lap.snapshot or lap.rechecked:
        return replace(state, open=replace(lap, snapshot=event.snapshot, confirmed=True))
    return replace(state, open=replace(lap, snapshot=event.snapshot, verdicts={}, rechecked=True))


def _gate_checked(state: RunState, lap: Open, event: GateChecked) -> RunState:
    if event.gate not in {gate.name for gate in state.plan.gates}:
        raise JournalDamaged(
            f"The journal has a verdict of gate {event.gate!r}, which the plan does not know."
        )
    judged = replace(lap, verdicts={**lap.verdicts, event.gate: event.verdict})
    if state.plan.gate(event.gate).kind not in REMEMBERS or event.verdict.status not in ("pass", "fail"):
        return replace(state, open=judged)
    known = {**state.remembered, event.gate: (lap.snapshot or "", event.verdict)}
    return replace(state, open=judged, remembered=known)


def _decided(state: RunState, event: Decided) -> RunState:
    """The lap is over, or a question about it was settled; either way the next thing is known."""
    if state.open is not None and state.open.number == event.lap:
        state = close(state, state.open, event.signals, event.decision)
    elif state.iterations and state.iterations[-1].number == event.lap:
        seen = replace(state.iterations[-1], decision=event.decision)
        state = replace(state, iterations=(*state.iterations[:-1], seen))
    state = replace(state, asked=None, answer=None)
    match event.decision:
        case Finish():
            return replace(state, ending=event.decision)
        case Ask():
            return replace(state, asked=event.decision, asked_at=state.now)
        case Continue(hint=hint, remedy=remedy, restore=restore, agent=agent):
            return replace(
                state,
                open=Open(number=event.lap + 1, hint=hint, remedy=remedy, fresh=agent is not None),
                remedy_due=remedy,
                restore_due=restore,
                agent=agent or state.agent,
            )
        case _:
            assert_never(event.decision)


def _answered(state: RunState, event: Answered) -> RunState:
    if event.note:
        note = Note(id=f"answer-{len(state.notes)}", text=event.note, by=event.by)
        state = replace(state, notes=(*state.notes, note))
    if event.choice == REVIEW:
        state = replace(state, pause=Paused(at=event.at, reason="a person reviews the run"))
    return replace(state, answer=event)


def _restored(state: RunState, event: Restored) -> RunState:
    lap = state.open
    rewound = replace(lap, rewound=True) if lap and lap.interrupted else lap
    return replace(state, tree=event.snapshot, restore_due=None, open=rewound, left=state.ending is not None)


def _paused(state: RunState, event: Paused) -> RunState:
    paused = replace(state, pause=event, waits=state.waits + (event.cause is not None))
    return _again(paused, state.open) if state.open and event.cause else paused


def _finished(state: RunState, event: RunFinished) -> RunState:
    left = {"final_snapshot": event.final_snapshot, "commit": event.commit}
    return replace(state, outcome=event.outcome, reason=event.reason, **left)


def _stop_requested(state: RunState, event: StopRequested) -> RunState:
    begun = state.open is not None and state.open.offered and undecided(state) is None
    ending = state.ending or (None if begun else _cancelled(event.reason))
    return replace(state, stop=event, ending=ending, asked=None if ending else state.asked)


def _remedy_tried(state: RunState, event: RemedyTried) -> RunState:
    lap = state.open
    if lap is not None and event.rung in ("fresh", "switch"):
        lap = replace(lap, fresh=True)
    return replace(state, open=lap, tried=(*state.tried, event.rung), remedy_due=None)


def _again(state: RunState, lap: Open) -> RunState:
    """The same lap from its start: what was used stays counted, notes are told again."""
    retry = Open(
        number=lap.number,
        attempt=lap.attempt + 1,
        outside=lap.outside,
        hint=lap.hint,
        remedy=lap.remedy,
        fresh=lap.fresh,
        usage=lap.usage,
        cost=lap.cost,
    )
    return replace(
        state,
        open=retry,
        notes_told=lap.notes_from if lap.offered else state.notes_told,
        ending=_cancelled(state.stop.reason) if state.stop else state.ending,
    )


def _cancelled(reason: str) -> Finish:
    return Finish(outcome=Outcome.CANCELLED, reason=reason)
