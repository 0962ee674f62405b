"""Continues the run of a session: passes on what happened, and answers with what comes next."""

from __future__ import annotations

from time import time

import anyio
from msgspec.structs import replace

from untilgreen.core.loop.session_arrivals import Deleted, Failed, FromASession, Left, Stopped, TookOver
from untilgreen.core.values.state import WAITS
from untilgreen.engine import session_loop
from untilgreen.engine.store.session_runs import SessionRun, found
from untilgreen.errors import ArrivalRefused
from untilgreen.surfaces.hook import answers
from untilgreen.surfaces.hook.answers import SILENCE, Answer
from untilgreen.surfaces.hook.call import Call, noted, refused, stopped
from untilgreen.surfaces.hook.payload import Payload
from untilgreen.surfaces.install.targets import GO, target_of

MARGIN_SECONDS = 5.0
"""How long before its own time limit a hook stops its gates."""
LAST_SECONDS, LAST_SHARE = 2.0, 0.2
"""How long before that limit it gives up everything else; for a short limit, this share of it."""
RECOVERY_SECONDS = 3.0
"""The delay before a failed lap is offered again, so that other hooks can repair the session."""


async def answer_of_the_run(call: Call, payload: Payload, session_run: SessionRun | None) -> Answer:
    """Pass on what happened, and answer with what comes next; a prompt looks the session's run up here."""
    if call.event == "prompt":
        if (said := await _commanded(call, payload)) is not None:
            return said
        session_run = found(call.store, payload.session) if payload.session else None
    if session_run is None or (call.event == "prompt" and _is_ours(session_run, payload)):
        return SILENCE
    if call.event == "stop" and target_of(call.agent).transcript:
        payload = await _completed(call, payload, session_run)
    arrival = _arrival(call, payload)
    if arrival is None:
        return SILENCE
    session_run = replace(session_run, note=noted(call, session_run.note, payload))
    if isinstance(arrival, Failed) and arrival.error not in WAITS:
        await anyio.sleep(RECOVERY_SECONDS)
    with anyio.move_on_after(call.seconds_left(min(LAST_SECONDS, LAST_SHARE * (call.deadline or 0.0)))):
        try:
            now = await session_loop.hear(
                session_run, call.store, arrival, seconds=call.seconds_left(MARGIN_SECONDS)
            )
            return _told(arrival, now)
        except ArrivalRefused as error:
            return refused(call, payload, str(error))
    return Answer(toast=f"run {session_run.note.run} ran out of the hook's time. Continue with: {GO}")


async def _commanded(call: Call, payload: Payload) -> Answer | None:
    """The answer to a command of ours; None if the prompt is none."""
    from untilgreen.surfaces.hook.slash_commands import command_of, run_command

    command = command_of(payload.prompt)
    if command is None:
        return None
    return await run_command(command, payload, call.agent, call.store, call.seconds_left(MARGIN_SECONDS))


def _arrival(call: Call, payload: Payload) -> FromASession | None:
    at, session = time(), payload.session
    match call.event:
        case "stop" | "idle" if payload.aborted:
            return TookOver(at=at, session=session)
        case "stop" | "idle":
            return stopped(call, payload)
        case "prompt":
            return TookOver(at=at, session=session) if payload.prompt.strip() else None
        case "interrupt":
            return TookOver(at=at, session=session)
        case "end":
            return Left(at=at, session=session)
        case "error":
            if payload.aborted:
                return TookOver(at=at, session=session)
            return _failed(payload, at)
        case _:
            return Deleted(at=at, session=session)


def _failed(payload: Payload, at: float) -> Failed:
    from untilgreen.agents.kit.error_classes import cause_of, status_in
    from untilgreen.agents.kit.retry_times import retry_at

    cause = cause_of(payload.error, status_in(payload.error))
    again = retry_at(payload.error, at) if cause in WAITS else None
    return Failed(
        at=at,
        session=payload.session,
        detail=payload.error,
        error=cause or "interrupted",
        retry_at=again,
    )


async def _completed(call: Call, payload: Payload, session_run: SessionRun) -> Payload:
    """The payload with the agent's last words added; only a lap in progress has any."""
    if payload.text and target_of(call.agent).transcript == "claude":
        return payload
    lap = session_run.state.open
    if lap is None or not lap.in_session:
        return payload
    from untilgreen.surfaces.hook import transcripts

    return await transcripts.completed(target_of(call.agent).transcript, payload, lap.started)


def _told(arrival: FromASession, session_run: SessionRun) -> Answer:
    if isinstance(arrival, Stopped) and arrival.busy and session_run.brief is None:
        return Answer(toast=f"the lap continues in the background: {arrival.busy}")
    if isinstance(arrival, Left):
        return SILENCE
    return answers.of(session_run)


def _is_ours(session_run: SessionRun, payload: Payload) -> bool:
    """Whether the prompt is the brief itself, which some agents report like a person's words."""
    brief = session_run.out
    return brief is not None and " ".join(brief.text.split()) in " ".join(payload.prompt.split())
