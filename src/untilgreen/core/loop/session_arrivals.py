"""What the hooks of an agent's session report, as events.

No payload names its turn, and interrupting an agent calls no hook at all. So a stop ends a lap only if the
brief is out, the call is not a duplicate of the one that offered it, and the offer was made in this turn.
Everything else is the person's own turn, never a lap.
"""

from __future__ import annotations

from typing import TypeAlias, assert_never

from msgspec import Struct
from msgspec.structs import replace

from untilgreen.core.briefing.brief import compose
from untilgreen.core.briefing.claims import claimed
from untilgreen.core.briefing.excerpt import kept_reply
from untilgreen.core.values.events import Cancelled, Event, LapVoided, LetGo, Paused, Resumed, TurnEnded
from untilgreen.core.values.model import ErrorClass, Moment, Reply
from untilgreen.core.values.state import Open, RunState

DOUBLE = "This call duplicates one that was already answered."
TAKEN_OVER = "you took over"
SOON_SECONDS = 30.0
"""An agent that fails sooner has not worked yet: the cause is outside, and its errors don't end a run."""


class Arriving(Struct, frozen=True, kw_only=True, omit_defaults=True, tag=True):
    """What every arrival has in common: when it was sent, and by whom."""

    at: float
    by: str = ""


class Stopped(Arriving, frozen=True, kw_only=True, omit_defaults=True):
    """The session wants to stop."""

    session: str
    began: Moment
    """When the process that reports it was started."""
    kept_going: bool | None = None
    """Whether a stop hook kept this turn going; None if the agent does not say."""
    busy: str = ""
    """What still runs in the background."""
    text: str = ""
    """The last text that the agent itself wrote."""


class TookOver(Arriving, frozen=True, kw_only=True, omit_defaults=True):
    """The person in the session wrote a prompt, or interrupted the agent's turn."""

    session: str


class Left(Arriving, frozen=True, kw_only=True, omit_defaults=True):
    """The session ended; it can be continued under the same id."""

    session: str


class Failed(Arriving, frozen=True, kw_only=True, omit_defaults=True):
    """The turn ended with an error of the agent or of its provider."""

    session: str
    detail: str = ""
    error: ErrorClass = "interrupted"
    retry_at: float | None = None


class Deleted(Arriving, frozen=True, kw_only=True, omit_defaults=True):
    """The session is gone for good."""

    session: str


class Go(Arriving, frozen=True, kw_only=True, omit_defaults=True):
    """Continue in this session with the lap that is waiting."""

    session: str


class Take(Arriving, frozen=True, kw_only=True, omit_defaults=True):
    """Take the run out of its session, to drive it from elsewhere."""


FromASession: TypeAlias = Stopped | TookOver | Left | Failed | Deleted | Go | Take


def receive(state: RunState, arrival: FromASession, at: float) -> tuple[Event, ...]:
    """The events that follow; the caller has already checked `refusal`."""
    match arrival:
        case Stopped():
            return _stopped(state, arrival, at)
        case TookOver():
            return (*_unused(state, at, TAKEN_OVER), Paused(at=at, reason=TAKEN_OVER))
        case Left():
            return (*_unused(state, at, "its session ended"), Paused(at=at, reason="its session ended"))
        case Failed():
            return (_failed(state, arrival, at),)
        case Deleted():
            return (Cancelled(at=at, by=arrival.by, reason="its session was deleted"),)
        case Go():
            return (*_unused(state, at, "started again"), Resumed(at=at, by=arrival.by or "go"))
        case Take():
            return (*_unused(state, at, "taken out of its session"), Resumed(at=at, by=arrival.by or "take"))
        case _:
            assert_never(arrival)


def refusal(state: RunState, arrival: FromASession) -> str:
    """Why it is refused, as a sentence; empty if it is accepted."""
    if isinstance(arrival, Go | Take):
        return ""
    if state.seat != "session" or state.session != arrival.session:
        return f"Run {state.run} is no longer driven by this session."
    lap = state.open
    match arrival:
        case Stopped():
            if lap is None or not lap.in_session:
                return f"Run {state.run} is waiting; it has offered no brief."
            return DOUBLE if arrival.began.before(lap.moment) else ""
        case Failed():
            return "" if lap is not None and lap.in_session else f"Run {state.run} has no turn in progress."
        case TookOver() | Left():
            return f"Run {state.run} is already paused." if state.pause else ""
        case Deleted():
            return ""
        case _:
            assert_never(arrival)


def _stopped(state: RunState, stop: Stopped, at: float) -> tuple[Event, ...]:
    lap = state.open
    assert lap is not None  # refusal checked
    if stop.busy:
        return (LetGo(at=at, lap=lap.number, reason=f"still running in the background: {stop.busy}"),)
    if stop.kept_going is False and not lap.own_turn:
        return (*_unused(state, at, TAKEN_OVER), Paused(at=at, reason=TAKEN_OVER))
    reply = Reply(text=stop.text, session=stop.session)
    claim = state.plan.promise is not None and claimed(stop.text, _told(state, lap), state.plan.promise)
    return (TurnEnded(at=at, lap=lap.number, reply=kept_reply(reply), claim=claim),)


def _failed(state: RunState, failed: Failed, at: float) -> Event:
    """Rate limits and network errors pause a run, and so does an unknown error right after the brief."""
    soon = state.open is not None and at - state.open.started < SOON_SECONDS
    error: ErrorClass = "network" if soon and failed.error == "interrupted" else failed.error
    reply = Reply(error=error, detail=failed.detail, session=failed.session, retry_at=failed.retry_at)
    unused = error == "interrupted"
    return TurnEnded(at=at, lap=_number(state), reply=kept_reply(reply), unused=unused)


def _told(state: RunState, lap: Open) -> str:
    """The brief as it was offered, with the notes it had then."""
    return compose(replace(state, notes_told=lap.notes_from)).text


def _unused(state: RunState, at: float, reason: str) -> tuple[Event, ...]:
    """The offered lap was not used; it will be offered again."""
    lap = state.open
    if lap is None or not lap.in_session:
        return ()
    return (LapVoided(at=at, lap=lap.number, reason=reason),)


def _number(state: RunState) -> int:
    return state.open.number if state.open else 0
