"""One call of a hook: read, act, answer. Any failure lets the session stop and says why.

A stop of a session whose run waits is the most frequent call, and is answered here. The code that drives the
run is in `continuing`, and loaded only if needed: loading it takes longer than answering such a stop.
"""

from __future__ import annotations

import sys
from time import time

from msgspec import Struct

from untilgreen.core.loop.receive import refusal
from untilgreen.core.loop.session_arrivals import DOUBLE, Stopped
from untilgreen.core.values.model import Moment
from untilgreen.core.values.state import RunState
from untilgreen.engine.store import lock
from untilgreen.engine.store.notes import session_notes
from untilgreen.engine.store.notes.session_notes import Note
from untilgreen.engine.store.runs import Store
from untilgreen.engine.store.session_runs import SessionRun, found, without_note_if_over
from untilgreen.errors import JournalLocked, UntilgreenError
from untilgreen.process import boot_clock
from untilgreen.surfaces.hook import answers
from untilgreen.surfaces.hook.answers import SILENCE, Answer
from untilgreen.surfaces.hook.payload import Payload, read
from untilgreen.surfaces.install.targets import GO, target_of
from untilgreen.surfaces.text import streams

_MAY_STOP = "the session may stop, because its loop can't continue"


class Call(Struct, frozen=True, kw_only=True):
    """Which hook of which agent, and how long the agent waits for it."""

    event: str
    agent: str
    store: Store
    deadline: float | None = None
    entered: float = 0.0
    """When the program began, in wall time."""

    def seconds_left(self, margin: float) -> float | None:
        """Seconds left until `margin` before the deadline."""
        return None if self.deadline is None else max(0.0, self.entered + self.deadline - margin - time())


def answer(call: Call, data: bytes) -> int:
    """Print the answer; the exit code never keeps a session from stopping."""
    try:
        said = _heard(call, read(data))
    except UntilgreenError as error:
        said = Answer(toast=f"{_MAY_STOP}. {error}")
    except OSError as error:
        what = f"{error.strerror or error} ({call.store.state_dir})"
        said = Answer(toast=f"{_MAY_STOP}: {what}. Run `untilgreen doctor`, then continue with: {GO}")
    except Exception as error:  # the last line of defense: never trap a person
        said = Answer(
            toast=f"the session may stop, because of a bug in untilgreen: {type(error).__name__}: {error}"
        )
    if (said.toast or said.refused) and not target_of(call.agent).shows_messages:
        from untilgreen.surfaces.hook import terminal_title

        terminal_title.show(said)
    streams.write_bytes(sys.stdout, answers.written(said, call.event, call.agent))
    return 0


def _heard(call: Call, payload: Payload) -> Answer:
    session_run = None
    if call.event != "prompt":  # which may be a command of ours
        session_run = found(call.store, payload.session) if payload.session else None
        if session_run is None:
            return SILENCE
        if call.event == "start":
            return _greeted(session_run)
        if call.event in ("stop", "idle") and (said := _at_once(call, payload, session_run)) is not None:
            return said
    import anyio

    from untilgreen.surfaces.hook.continuing import answer_of_the_run

    return anyio.run(answer_of_the_run, call, payload, session_run)


def _greeted(session_run: SessionRun) -> Answer:
    """Tell a continued session about the run that waits for it."""
    state = session_run.state
    return Answer(toast=answers.resting(state)) if state.pause is not None else SILENCE


def _at_once(call: Call, payload: Payload, session_run: SessionRun) -> Answer | None:
    """The answer to a stop that ends no lap; None if the run has to be driven, or already is."""
    record, note = session_run.record, session_run.note
    try:
        with lock.hold_briefly(record.lock, run=note.run):
            state = record.read().state
    except JournalLocked:
        return None
    works = state.session == payload.session and _in_session(state)
    ending = state.ending is not None and state.outcome is None
    why = "" if payload.aborted or works or ending else refusal(state, stopped(call, payload))
    if not why:
        return None
    noted(call, note, payload)
    return refused(call, payload, why)


def stopped(call: Call, payload: Payload) -> Stopped:
    """What the run is told when the session wants to stop."""
    return Stopped(
        at=time(),
        session=payload.session,
        began=_began(call, payload),
        kept_going=payload.kept_going,
        busy=payload.background,
        text=payload.text,
    )


def _began(call: Call, payload: Payload) -> Moment:
    """When the agent called its hooks; agents that call them one after another say so."""
    if target_of(call.agent).stamps_calls and payload.stamp is not None:
        return boot_clock.ago(time() - payload.stamp / 1000)
    return boot_clock.began(call.entered)


def noted(call: Call, note: Note, payload: Payload) -> Note:
    """The note, updated with the session's transcript."""
    known = session_notes.seen(note, payload.transcript)
    if known != note:
        session_notes.write(call.store, known)
    return known


def refused(call: Call, payload: Payload, why: str) -> Answer:
    """A duplicate call gets no answer, nor does a waiting loop; a loop that moved elsewhere says so once."""
    if why == DOUBLE:
        return SILENCE
    session_run = found(call.store, payload.session)
    if session_run is None:
        return SILENCE
    without_note_if_over(call.store, session_run)
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
