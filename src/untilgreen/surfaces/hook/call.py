"""One call of a hook: read, do what is due, answer. Any failure lets the session stop and says why."""

from __future__ import annotations

import sys
from pathlib import Path
from time import time

import anyio
from msgspec import Struct

from untilgreen.agents.kit.error_classes import cause_of, status_in
from untilgreen.agents.kit.retry_times import retry_at
from untilgreen.core.loop.session_arrivals import (
    DOUBLE,
    Deleted,
    Failed,
    FromASession,
    Left,
    Stopped,
    TookOver,
)
from untilgreen.core.values.model import Moment
from untilgreen.core.values.state import WAITS, RunState
from untilgreen.engine import session_loop
from untilgreen.engine.session_loop import SessionRun
from untilgreen.engine.store.notes import session_notes
from untilgreen.engine.store.notes.session_notes import Note
from untilgreen.engine.store.runs import Store
from untilgreen.errors import ArrivalRefused, UntilgreenError
from untilgreen.process import boot_clock
from untilgreen.surfaces.hook import answers, toasts, transcripts
from untilgreen.surfaces.hook.answers import SILENCE, Answer
from untilgreen.surfaces.hook.payload import Payload, read
from untilgreen.surfaces.hook.slash_commands import command_of, run_command
from untilgreen.surfaces.install.targets import GO, target_of
from untilgreen.surfaces.text import streams

MARGIN_SECONDS = 5.0
"""How long before its own time limit a hook stops its gates."""
LAST_SECONDS, LAST_SHARE = 2.0, 0.2
"""How long before that limit it gives up everything else; of a short limit, this share."""
RECOVERY_SECONDS = 3.0
"""The delay before a failed lap is offered again, so that other hooks can repair the session."""
_MAY_STOP = "the session may stop, because its loop can't continue"


class Call(Struct, frozen=True, kw_only=True):
    """Which hook of which agent, and how long the agent waits for it."""

    event: str
    agent: str
    store: Store
    deadline: float | None = None
    entered: float = 0.0
    """When the program began, in wall time."""

    def left(self, margin: float) -> float | None:
        """Seconds left until `margin` before the deadline."""
        return None if self.deadline is None else max(0.0, self.entered + self.deadline - margin - time())


def answer(call: Call, data: bytes) -> int:
    """Print the answer; the exit code never keeps a session from stopping."""
    try:
        said = anyio.run(_heard, call, read(data))
    except UntilgreenError as error:
        said = Answer(toast=f"{_MAY_STOP}. {error}")
    except OSError as error:
        what = f"{error.strerror or error} ({call.store.state_dir})"
        said = Answer(toast=f"{_MAY_STOP}: {what}. Run `untilgreen doctor`, then continue with: {GO}")
    except Exception as error:  # the last line of defence: never trap a person
        said = Answer(
            toast=f"the session may stop, because of a bug in untilgreen: {type(error).__name__}: {error}"
        )
    toasts.show(said, call.agent)
    streams.write_bytes(sys.stdout, answers.written(said, call.event, call.agent))
    return 0


async def _heard(call: Call, payload: Payload) -> Answer:
    if call.event == "prompt" and (command := command_of(payload.prompt)):
        return await run_command(command, payload, call.agent, call.store, call.left(MARGIN_SECONDS))
    note = session_notes.find(call.store, payload.session) if payload.session else None
    if note is None:
        return SILENCE
    if call.event == "start":
        return await _greeted(call, payload)
    if call.event == "prompt" and await _is_ours(call, payload):
        return SILENCE
    if call.event == "stop" and target_of(call.agent).transcript:
        payload = await _completed(call, payload)
    arrival = _arrival(call, payload)
    if arrival is None:
        return SILENCE
    note = _noted(call, note, payload)
    if isinstance(arrival, Failed) and arrival.error not in WAITS:
        await anyio.sleep(RECOVERY_SECONDS)
    with anyio.move_on_after(call.left(min(LAST_SECONDS, LAST_SHARE * (call.deadline or 0.0)))):
        try:
            return _told(
                arrival, await session_loop.hear(note, call.store, arrival, seconds=call.left(MARGIN_SECONDS))
            )
        except ArrivalRefused as refused:
            return await _refused(call, payload, str(refused))
    return Answer(toast=f"run {note.run} ran out of the hook's time. Continue with: {GO}")


def _noted(call: Call, note: Note, payload: Payload) -> Note:
    """The note, updated with the session's transcript."""
    known = session_notes.seen(note, payload.transcript)
    if known != note:
        session_notes.write(call.store, known)
    return known


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
            cause = cause_of(payload.error, status_in(payload.error))
            again = retry_at(payload.error, at) if cause in WAITS else None
            return Failed(
                at=at, session=session, detail=payload.error, error=cause or "interrupted", retry_at=again
            )
        case _:
            return Deleted(at=at, session=session)


async def _completed(call: Call, payload: Payload) -> Payload:
    """The payload with the agent's last words added; only a lap in progress has any."""
    if payload.text and target_of(call.agent).transcript == "claude":
        return payload
    session_run = await session_loop.found(call.store, payload.session)
    lap = session_run.state.open if session_run else None
    if lap is None or not lap.in_session:
        return payload
    return await transcripts.completed(target_of(call.agent).transcript, payload, lap.started)


def _began(call: Call, payload: Payload) -> Moment:
    """When the agent called its hooks; agents that call them one after another say so."""
    if target_of(call.agent).stamps_calls and payload.stamp is not None:
        return boot_clock.ago(time() - payload.stamp / 1000)
    return boot_clock.began(call.entered)


def _told(arrival: FromASession, session_run: SessionRun) -> Answer:
    if isinstance(arrival, Stopped) and arrival.busy and session_run.brief is None:
        return Answer(toast=f"the lap continues in the background: {arrival.busy}")
    if isinstance(arrival, Left):
        return SILENCE
    return answers.of(session_run)


async def _refused(call: Call, payload: Payload, why: str) -> Answer:
    """A duplicate call gets no answer, nor does a waiting loop; a loop that moved elsewhere says so once."""
    if why == DOUBLE:
        return SILENCE
    session_run = await session_loop.found(call.store, payload.session)
    if session_run is None:
        return SILENCE
    session_loop.settled(call.store, session_run)
    state = session_run.state
    if state.session == payload.session and state.seat == "session":
        taken = state.outcome is None and state.pause is None and state.away is None
        return Answer(toast=answers.resting(state)) if taken and not _in_session(state) else SILENCE
    session_notes.remove(call.store, payload.session)
    if session_run.state.outcome is not None:
        return Answer(toast=answers.resting(session_run.state))
    return Answer(toast=f"run {session_run.note.run} was moved out of this session, which may stop.")


def _in_session(state: RunState) -> bool:
    return state.open is not None and state.open.in_session


async def _is_ours(call: Call, payload: Payload) -> bool:
    """Whether the prompt is the brief itself, which some agents report like a person's words."""
    session_run = await session_loop.found(call.store, payload.session)
    brief = session_run.out if session_run else None
    return brief is not None and " ".join(brief.text.split()) in " ".join(payload.prompt.split())


async def _greeted(call: Call, payload: Payload) -> Answer:
    """Tell a continued session about the run that waits for it."""
    session_run = await session_loop.found(call.store, payload.session)
    if session_run is None or session_run.state.pause is None:
        return SILENCE
    return Answer(toast=answers.resting(session_run.state))


def directory_of(payload: Payload) -> Path:
    """Where the session works."""
    return (payload.directory or Path()).absolute()
