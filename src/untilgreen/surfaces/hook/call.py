"""One call of a hook: read, do what is due, answer. What goes wrong lets the session stop, and says why."""

from __future__ import annotations

import sys
from pathlib import Path
from time import time

import anyio
from msgspec import Struct

from untilgreen.core.inside import DOUBLE, Deleted, Failed, FromASession, Left, Stopped, TookOver
from untilgreen.core.model import Moment
from untilgreen.engine import inside, sessions
from untilgreen.engine.inside import Standing
from untilgreen.engine.store import Store
from untilgreen.errors import ArrivalRefused, UntilgreenError
from untilgreen.process import moments
from untilgreen.surfaces import streams
from untilgreen.surfaces.hook import answers, toasts, transcripts
from untilgreen.surfaces.hook.answers import SILENCE, Answer
from untilgreen.surfaces.hook.payload import Payload, read
from untilgreen.surfaces.hook.prompts import command_of, obey

MARGIN_SECONDS = 5.0
"""How long before its own time limit a hook ends its gates."""
LAST_SECONDS, LAST_SHARE = 2.0, 0.2
"""And how long before it gives up whatever else it does; of a short limit a part."""
_SAY_WHEN = frozenset({"copilot", "opencode"})
"""Agents whose hooks, where they have two, may run one after the other; they say when they called them."""


class Call(Struct, frozen=True, kw_only=True):
    """Which hook of which agent, and how long the agent waits for it."""

    event: str
    agent: str
    store: Store
    deadline: float | None = None
    entered: float = 0.0
    """When the program began, in wall time."""

    def left(self, margin: float) -> float | None:
        """Seconds until so long before the deadline."""
        return None if self.deadline is None else max(0.0, self.entered + self.deadline - margin - time())


def answer(call: Call, data: bytes) -> int:
    """Print what the agent is to be told; the exit code never keeps a session from stopping."""
    try:
        said = anyio.run(_heard, call, read(data))
    except UntilgreenError as error:
        said = Answer(toast=f"the session may stop, since its loop can't be looked after. {error}")
    except OSError as error:
        what = f"{error.strerror or error} ({call.store.state_dir})"
        said = Answer(
            toast=f"the session may stop, since its loop can't be looked after. {what}. "
            f"See `untilgreen doctor`, then: {answers.GO_ON}"
        )
    except Exception as error:  # the last line of defence: never trap a person
        said = Answer(toast=f"a defect in untilgreen lets the session stop: {type(error).__name__}: {error}")
    toasts.show(said, call.agent)
    streams.write_bytes(sys.stdout, answers.written(said, call.event, call.agent))
    return 0


async def _heard(call: Call, payload: Payload) -> Answer:
    if call.event == "prompt" and (command := command_of(payload.prompt)):
        return await obey(command, payload, call.agent, call.store, call.left(MARGIN_SECONDS))
    note = sessions.find(call.store, payload.session) if payload.session else None
    if note is None:
        return SILENCE
    if call.event == "start":
        return await _greeted(call, payload)
    if call.event == "prompt" and await _is_ours(call, payload):
        return SILENCE
    if call.event == "stop" and call.agent in transcripts.READERS:
        payload = await _completed(call, payload)
    arrival = _arrival(call, payload)
    if arrival is None:
        return SILENCE
    with anyio.move_on_after(call.left(min(LAST_SECONDS, LAST_SHARE * (call.deadline or 0.0)))):
        try:
            return _told(
                arrival, await inside.hear(note, call.store, arrival, seconds=call.left(MARGIN_SECONDS))
            )
        except ArrivalRefused as refused:
            return await _refused(call, payload, str(refused))
    return Answer(toast=f"run {note.run} ran out of the hook's time. Go on with: {answers.GO_ON}")


def _arrival(call: Call, payload: Payload) -> FromASession | None:
    at, session = time(), payload.session
    match call.event:
        case "stop" | "idle" if payload.aborted:
            return TookOver(at=at, session=session)
        case "stop" | "idle":
            return Stopped(
                at=at,
                session=session,
                began=_began(call, payload),
                kept_going=payload.kept_going,
                busy=payload.background,
                text=payload.text,
            )
        case "prompt":
            return TookOver(at=at, session=session) if payload.prompt.strip() else None
        case "interrupt":
            return TookOver(at=at, session=session)
        case "end":
            return Left(at=at, session=session)
        case "error":
            if payload.aborted:
                return TookOver(at=at, session=session)
            return Failed(at=at, session=session, detail=payload.error)
        case _:
            return Deleted(at=at, session=session)


async def _completed(call: Call, payload: Payload) -> Payload:
    """With the agent's last words, where it does not hand them over; only a lap under way has any."""
    standing = await inside.found(call.store, payload.session)
    lap = standing.state.open if standing else None
    if lap is None or not lap.in_session:
        return payload
    return await transcripts.completed(call.agent, payload, lap.started)


def _began(call: Call, payload: Payload) -> Moment:
    """When the agent called its hooks; one that calls them one after the other says it."""
    if call.agent in _SAY_WHEN and payload.stamp is not None:
        return moments.ago(time() - payload.stamp / 1000)
    return moments.began(call.entered)


def _told(arrival: FromASession, standing: Standing) -> Answer:
    if isinstance(arrival, Stopped) and arrival.busy and standing.brief is None:
        return Answer(toast=f"the lap goes on in the background: {arrival.busy}")
    if isinstance(arrival, Left):
        return SILENCE
    return answers.of(standing)


async def _refused(call: Call, payload: Payload, why: str) -> Answer:
    """A double says nothing, and neither does a loop that waits; one that went elsewhere says so once."""
    if why == DOUBLE:
        return SILENCE
    standing = await inside.found(call.store, payload.session)
    if standing is None:
        return SILENCE
    inside.settled(call.store, standing)
    if standing.state.session == payload.session and standing.state.seat == "session":
        return SILENCE
    sessions.remove(call.store, payload.session)
    if standing.state.outcome is not None:
        return Answer(toast=answers.resting(standing.state))
    return Answer(toast=f"run {standing.note.run} was taken out of this session, which may stop.")


async def _is_ours(call: Call, payload: Payload) -> bool:
    """Whether the prompt is the brief itself, which some agents show to their hooks like a person's words."""
    standing = await inside.found(call.store, payload.session)
    brief = standing.out if standing else None
    return brief is not None and " ".join(brief.text.split()) in " ".join(payload.prompt.split())


async def _greeted(call: Call, payload: Payload) -> Answer:
    """A session that goes on hears of the run that waits for it."""
    standing = await inside.found(call.store, payload.session)
    if standing is None or standing.state.pause is None:
        return SILENCE
    return Answer(toast=answers.resting(standing.state))


def directory_of(payload: Payload) -> Path:
    """Where the session works."""
    return (payload.directory or Path()).absolute()
