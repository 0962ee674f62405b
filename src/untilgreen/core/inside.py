"""What a session's hooks tell a run, and what it makes happen.

No payload names its turn, and the key that interrupts an agent calls no hook at all. So a stop is the end of
a lap only where it can be: the brief is out, the call is no double of the one that offered it, and the offer
was made in this turn. Everything else is a turn of the person's own, and never a lap.
"""

from __future__ import annotations

from typing import TypeAlias, assert_never

from msgspec.structs import replace

from untilgreen.core.arriving import Arriving
from untilgreen.core.brief import compose
from untilgreen.core.claims import claimed
from untilgreen.core.events import Cancelled, Event, LapVoided, LetGo, Paused, Resumed, TurnEnded
from untilgreen.core.excerpt import kept_reply
from untilgreen.core.model import Moment, Reply
from untilgreen.core.state import Open, RunState

DOUBLE = "This call is a double of the one that was answered already."
TAKEN_OVER = "you took over"


class Stopped(Arriving, frozen=True, kw_only=True, omit_defaults=True):
    """The session wants to stop."""

    session: str
    began: Moment
    """When the process that brings the news was started."""
    kept_going: bool | None = None
    """Whether a stop hook had kept this turn going; None where the agent does not say."""
    busy: str = ""
    """What still runs in the background."""
    text: str = ""
    """The last text that the agent itself wrote."""


class TookOver(Arriving, frozen=True, kw_only=True, omit_defaults=True):
    """The person in the session wrote something of their own, or broke the agent's turn off."""

    session: str


class Left(Arriving, frozen=True, kw_only=True, omit_defaults=True):
    """The session ended; it can be continued under the same id."""

    session: str


class Failed(Arriving, frozen=True, kw_only=True, omit_defaults=True):
    """The turn broke off with an error of the agent's."""

    session: str
    detail: str = ""


class Deleted(Arriving, frozen=True, kw_only=True, omit_defaults=True):
    """The session is gone for good."""

    session: str


class Go(Arriving, frozen=True, kw_only=True, omit_defaults=True):
    """Go on in this session with the lap that waits."""

    session: str


class Take(Arriving, frozen=True, kw_only=True, omit_defaults=True):
    """Take the run out of its session, to drive it from elsewhere."""


FromASession: TypeAlias = Stopped | TookOver | Left | Failed | Deleted | Go | Take


def receive(state: RunState, arrival: FromASession, at: float) -> tuple[Event, ...]:
    """The events that follow; the caller has asked `refusal` before."""
    match arrival:
        case Stopped():
            return _stopped(state, arrival, at)
        case TookOver():
            return (*_unused(state, at, TAKEN_OVER), Paused(at=at, reason=TAKEN_OVER))
        case Left():
            return (*_unused(state, at, "its session ended"), Paused(at=at, reason="its session ended"))
        case Failed(session=session, detail=detail):
            reply = Reply(error="interrupted", detail=detail, session=session)
            return (TurnEnded(at=at, lap=_number(state), reply=kept_reply(reply), unused=True),)
        case Deleted():
            return (Cancelled(at=at, by=arrival.by, reason="its session was deleted"),)
        case Go():
            return (*_unused(state, at, "begun anew"), Resumed(at=at, by=arrival.by or "go"))
        case Take():
            return (*_unused(state, at, "taken out of its session"), Resumed(at=at, by=arrival.by or "take"))
        case _:
            assert_never(arrival)


def refusal(state: RunState, arrival: FromASession) -> str:
    """Why it can't be taken, as a sentence; empty when it can."""
    if isinstance(arrival, Go | Take):
        return ""
    if state.seat != "session" or state.session != arrival.session:
        return f"Run {state.run} is not driven by this session any more."
    lap = state.open
    match arrival:
        case Stopped():
            if lap is None or not lap.in_session:
                return f"Run {state.run} waits, and no brief of it is out."
            return DOUBLE if arrival.began.before(lap.moment) else ""
        case Failed():
            return "" if lap is not None and lap.in_session else f"Run {state.run} has no turn under way."
        case TookOver() | Left():
            return f"Run {state.run} is paused already." if state.pause else ""
        case Deleted():
            return ""
        case _:
            assert_never(arrival)


def _stopped(state: RunState, stop: Stopped, at: float) -> tuple[Event, ...]:
    lap = state.open
    assert lap is not None  # refusal looked
    if stop.busy:
        return (LetGo(at=at, lap=lap.number, reason=f"still running in the background: {stop.busy}"),)
    if stop.kept_going is False and not lap.own_turn:
        return (*_unused(state, at, TAKEN_OVER), Paused(at=at, reason=TAKEN_OVER))
    reply = Reply(text=stop.text, session=stop.session)
    claim = state.plan.promise is not None and claimed(stop.text, _told(state, lap), state.plan.promise)
    return (TurnEnded(at=at, lap=lap.number, reply=kept_reply(reply), claim=claim),)


def _told(state: RunState, lap: Open) -> str:
    """The brief as it was offered: the notes that it told are told again."""
    return compose(replace(state, notes_told=lap.notes_from)).text


def _unused(state: RunState, at: float, reason: str) -> tuple[Event, ...]:
    """The offered lap was not used up; it will be offered again."""
    lap = state.open
    if lap is None or not lap.in_session:
        return ()
    return (LapVoided(at=at, lap=lap.number, reason=reason),)


def _number(state: RunState) -> int:
    return state.open.number if state.open else 0
