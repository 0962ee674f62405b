"""Events to state: the only place where a run's state comes from."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar, assert_never

from msgspec.structs import replace

from untilgreen.core.loop.step import gate_waiting_for_people
from untilgreen.core.scoring.measure import close_lap
from untilgreen.core.values.decision import ADDED, REVIEW, Ask, Continue, Finish
from untilgreen.core.values.events import (
    BY_DEFAULT,
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
    LapsAdded,
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
from untilgreen.core.values.model import REMEMBERS, Outcome, Reply, Spent, Usage
from untilgreen.core.values.state import FAILURES, WAITS, Note, Open, RunState
from untilgreen.errors import JournalDamaged

Number = TypeVar("Number", int, float)


def fold(events: Iterable[Event]) -> RunState | None:
    """The state after these events; None if nothing has happened yet."""
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
            started=event.at,
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
            return _offered(state, lap, event)
        case LetGo() if lap:
            return replace(state, open=replace(lap, own_turn=True))
        case TurnEnded() if lap:
            return _turn_ended(state, lap, event)
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
        case LapsAdded() | Steered():
            return _laps_added(state, event) if isinstance(event, LapsAdded) else _steered(state, event)
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
            raise JournalDamaged(f"The journal has {type(event).__name__} where no lap is in progress.")
        case _:
            assert_never(event)


def _tick(state: RunState, event: Event) -> RunState:
    """Time only moves forward, and counts only while the run is driven and not waiting for anybody."""
    now = max(state.now, event.at)
    passed = now - state.now
    if state.pause is not None and state.pause.cause is not None:
        return replace(state, now=now, waited=state.waited + passed)
    resting = state.pause and not (state.open and state.open.offered)  # a pause lets the current lap continue
    person = resting or state.asked or state.halted or state.away or gate_waiting_for_people(state)
    still = person or (isinstance(event, Attached) and not _same_session(state, event))
    return replace(state, now=now, elapsed=state.elapsed if still else state.elapsed + passed)


def _same_session(state: RunState, event: Attached) -> bool:
    """Whether the driver is the hook of the session that works on the lap; then its turn is alive."""
    working = state.open is not None and state.open.in_session
    return working and event.seat == "session" and event.session == state.session


def _attached(state: RunState, event: Attached) -> RunState:
    asked_to_leave, lap, living = state.away is not None, state.open, _same_session(state, event)
    moved = event.place != state.place and bool(state.place)
    state = replace(
        state,
        seat=event.seat,
        place=event.place,
        session=event.session,
        answers=event.answers,
        halted=None,
        away=None,
        sessions={} if moved else state.sessions,  # the conversations stay on the machine that had them
    )
    if lap is None or not lap.offered or lap.reply is not None or living or state.ending:
        return state
    closed = replace(lap, reply=Reply(error="interrupted"), interrupted=True)
    if asked_to_leave:  # a person's Ctrl-C is not the agent's failure
        return replace(state, open=closed)
    if moved:  # a machine died, which says nothing about the agent
        return replace(state, open=closed, takeovers=state.takeovers + 1)
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


def _offered(state: RunState, lap: Open, event: BriefOffered) -> RunState:
    """The brief was delivered, with all notes so far."""
    begun = replace(
        lap,
        offered=True,
        agent=event.agent,
        seat=event.seat,
        own_turn=event.own_turn,
        moment=event.moment,
        started=event.at,
        elapsed=state.elapsed,
        notes_from=state.notes_told,
    )
    return replace(state, open=begun, agent=event.agent, notes_told=len(state.notes))


def _turn_ended(state: RunState, lap: Open, event: TurnEnded) -> RunState:
    """Record the reply and its cost, and count failures and waits in a row."""
    reply, limits = event.reply, state.plan.limits
    cost = reply.usage.cost
    tokens = reply.usage.tokens
    if cost is None and limits.unknown_cost == "estimate" and tokens:
        cost = tokens * float(limits.token_price or 0) / 1_000_000
    used = replace(
        lap,
        reply=reply,
        claim=event.claim,
        interrupted=event.unused,
        usage=_add(lap.usage, reply.usage),
        cost=_sum(lap.cost, cost),
    )
    failed, waits = reply.error in FAILURES, reply.error in WAITS
    return replace(
        state,
        open=used,
        spent=Spent(
            tokens=_sum(state.spent.tokens, tokens),
            cost=_sum(state.spent.cost, cost),
            unpriced=state.spent.unpriced + (cost is None and reply.ok),
        ),
        errors=state.errors + 1 if failed else state.errors if waits else 0,
        last_error=f"{reply.error}: {reply.detail}".rstrip(": ") if reply.error else state.last_error,
        takeovers=0,
        waits=state.waits if waits else 0,
        sessions={**state.sessions, lap.agent: reply.session} if reply.session else state.sessions,
        counted={**state.counted, lap.agent: _counted(state, lap, reply)},
    )


def _sum(known: Number | None, more: Number | None) -> Number | None:
    """The sum of what is known; None if neither is known."""
    if more is None:
        return known or None
    return more if known is None else known + more


def _counted(state: RunState, lap: Open, reply: Reply) -> Usage:
    """What the session has used in total; a failed turn may not say, a new session starts at zero."""
    if reply.total is not None:
        return reply.total
    same = reply.session in (None, state.sessions.get(lap.agent))
    return state.counted.get(lap.agent, Usage()) if same else Usage()


def _add(one: Usage, other: Usage) -> Usage:
    return replace(
        other,
        input_tokens=one.input_tokens + other.input_tokens,
        output_tokens=one.output_tokens + other.output_tokens,
        cached_tokens=one.cached_tokens + other.cached_tokens,
    )


def _gate_checked(state: RunState, lap: Open, event: GateChecked) -> RunState:
    gate = next((gate for gate in state.plan.gates if gate.name == event.gate), None)
    if gate is None:
        raise JournalDamaged(f"The journal has a verdict of gate {event.gate!r}, which is not in the plan.")
    judged = replace(lap, verdicts={**lap.verdicts, event.gate: event.verdict})
    if gate.kind not in REMEMBERS or event.verdict.status not in ("pass", "fail"):
        return replace(state, open=judged)
    known = {**state.remembered, event.gate: (lap.snapshot or "", event.verdict)}
    return replace(state, open=judged, remembered=known)


def _decided(state: RunState, event: Decided) -> RunState:
    """The lap is over, or a question about it was settled; either way the next thing is known."""
    if state.open is not None and state.open.number == event.lap:
        state = close_lap(state, state.open, event.signals, event.decision)
        if event.escalated and state.laps:
            seen = replace(state.laps[-1], escalated=event.escalated)
            state = replace(state, laps=(*state.laps[:-1], seen))
    elif state.laps and state.laps[-1].number == event.lap:
        heard = state.answer is not None and state.answer.by != BY_DEFAULT
        asked = () if heard else state.laps[-1].escalated
        seen = replace(state.laps[-1], decision=event.decision, escalated=asked)
        state = replace(state, laps=(*state.laps[:-1], seen))
    state = replace(state, asked=None, answer=None)
    match event.decision:
        case Finish():
            return replace(state, ending=event.decision)
        case Ask():
            return replace(state, asked=event.decision, asked_at=state.now, questions=state.questions + 1)
        case Continue(hint=hint, remedy=remedy, restore=restore, agent=agent, metadata=known):
            return replace(
                state,
                added=state.added - bool(known.get(ADDED)),
                open=Open(number=event.lap + 1, hint=hint, remedy=remedy, fresh=agent is not None),
                remedy_due=remedy,
                restore_due=restore,
                agent=agent or state.agent,
            )
        case _:
            assert_never(event.decision)


def _steered(state: RunState, event: Steered) -> RunState:
    return replace(state, notes=(*state.notes, Note(id=event.id, text=event.note, by=event.by)))


def _laps_added(state: RunState, event: LapsAdded) -> RunState:
    """Raise the limit; the strategy's own maximum is overruled for as many laps, if needed."""
    plan = state.plan
    if plan.limits.iterations is not None:
        limits = replace(plan.limits, iterations=int(plan.limits.iterations) + event.laps)
        plan = replace(plan, limits=limits)
    if plan.strategy_laps is not None:
        plan = replace(plan, strategy_laps=plan.strategy_laps + event.laps)
    return replace(state, plan=plan, added=state.added + event.laps)


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
    begun = state.open is not None and state.open.offered and gate_waiting_for_people(state) is None
    ending = state.ending or (None if begun else _cancelled(event.reason))
    return replace(state, stop=event, ending=ending, asked=None if ending else state.asked)


def _remedy_tried(state: RunState, event: RemedyTried) -> RunState:
    lap = state.open
    if lap is not None and event.rung in ("fresh", "switch"):
        lap = replace(lap, fresh=True)
    return replace(state, open=lap, tried=(*state.tried, event.rung), remedy_due=None)


def _again(state: RunState, lap: Open) -> RunState:
    """Restart the same lap: what was used stays counted, notes are delivered again."""
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
