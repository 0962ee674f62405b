"""An agent's turn in the fold: when it begins, and what it used when it is over."""

from __future__ import annotations

from msgspec.structs import replace

from untilgreen.core.events import BriefOffered, TurnEnded
from untilgreen.core.model import Reply, Spent, Usage
from untilgreen.core.state import FAILURES, WAITS, Open, RunState


def offered(state: RunState, lap: Open, event: BriefOffered) -> RunState:
    """The brief was handed over, with all notes up to now."""
    begun = replace(
        lap,
        offered=True,
        agent=event.agent,
        seat=event.seat,
        own_turn=event.own_turn,
        moment=event.moment,
        started=event.at,
        notes_from=state.notes_told,
    )
    return replace(state, open=begun, agent=event.agent, notes_told=len(state.notes))


def turn_ended(state: RunState, lap: Open, event: TurnEnded) -> RunState:
    """What came back, and what it cost; failures and waits are counted in a row."""
    reply, limits = event.reply, state.plan.limits
    cost = reply.usage.cost
    if cost is None and limits.unknown_cost == "estimate" and reply.usage.tokens:
        cost = reply.usage.tokens * float(limits.token_price or 0) / 1_000_000
    used = replace(
        lap,
        reply=reply,
        claim=event.claim,
        interrupted=event.unused,
        usage=_add(lap.usage, reply.usage),
        cost=lap.cost + (cost or 0.0),
    )
    failed, waits = reply.error in FAILURES, reply.error in WAITS
    return replace(
        state,
        open=used,
        spent=Spent(
            tokens=state.spent.tokens + reply.usage.tokens,
            cost=state.spent.cost + (cost or 0.0),
            unpriced=state.spent.unpriced + (cost is None and reply.ok),
        ),
        errors=state.errors + 1 if failed else state.errors if waits else 0,
        last_error=f"{reply.error}: {reply.detail}".rstrip(": ") if reply.error else state.last_error,
        waits=state.waits if waits else 0,
        sessions={**state.sessions, lap.agent: reply.session} if reply.session else state.sessions,
        counted={**state.counted, lap.agent: _counted(state, lap, reply)},
    )


def _counted(state: RunState, lap: Open, reply: Reply) -> Usage:
    """What the session has used in all; a failed turn may not say, a new session begins at nothing."""
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
