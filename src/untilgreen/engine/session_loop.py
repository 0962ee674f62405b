"""A run in an agent's session: continue it, pass on what happens there, inspect it, end it.

No process of ours runs while the agent works. Each call takes the run's lock, does what is due, and ends;
the state that it returns says what to tell the session.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from time import time

import anyio
from msgspec.structs import replace

from untilgreen.core.briefing.brief import Brief, compose
from untilgreen.core.loop.receive import Answer, Cancel
from untilgreen.core.loop.session_arrivals import FromASession, Go, Left, Take, TookOver
from untilgreen.core.values.events import BriefOffered, Event
from untilgreen.core.values.state import RunState
from untilgreen.engine.driving import sending
from untilgreen.engine.driving.drive import DriveOptions, drive
from untilgreen.engine.driving.end_undriven import end_undriven
from untilgreen.engine.loop.seat import in_session
from untilgreen.engine.store import lock
from untilgreen.engine.store.folder_record import FolderRecord
from untilgreen.engine.store.notes import session_notes
from untilgreen.engine.store.notes.session_notes import Note
from untilgreen.engine.store.reading import state_of
from untilgreen.engine.store.runs import Store
from untilgreen.engine.store.session_runs import SessionRun, found, without_note_if_over
from untilgreen.engine.worktree import setup
from untilgreen.engine.worktree.premises import LocalPremises, StartFacts
from untilgreen.errors import ArrivalRefused, JournalError, JournalLocked, UserError, WorkspaceNotReady
from untilgreen.process.tree_note import GRACE_SECONDS

LOOK_SECONDS = 0.05


async def go(session: str, store: Store, *, by: str = "", seconds: float | None = None) -> SessionRun:
    """Offer the waiting lap, in a turn that a person started."""
    session_run = found(store, session)
    if session_run is None:
        raise UserError(no_loop(f"in session {session!r}"))
    arrival = Go(at=time(), by=by, session=session)
    note, record = session_run.note, session_run.record
    return await _continued(note, record, store, arrival, own_turn=True, seconds=seconds)


async def answer(
    session: str,
    choice: str,
    argument: str | None,
    store: Store,
    *,
    by: str = "",
    seconds: float | None = None,
) -> SessionRun:
    """Answer the question of a session's run, and continue."""
    session_run = found(store, session)
    if session_run is None:
        raise UserError(no_loop(f"in session {session!r}"))
    reply = Answer(at=time(), by=by, choice=choice, argument=argument)
    if refused := await sending.deliver(session_run.record, reply):
        raise UserError(refused)
    return await go(session, store, by=by, seconds=seconds)


async def adopt(
    run: FolderRecord,
    session: str,
    agent: str,
    store: Store,
    *,
    take: bool = False,
    seconds: float | None = None,
) -> SessionRun:
    """Move a run that was driven elsewhere into a session, and continue it there."""
    state = await state_of(run)
    if state.outcome is not None:
        raise UserError(f"Run {run.id} has ended: {state.outcome}. Start another one.")
    if state.open is not None and state.open.in_session and state.session != session:
        if not take and not session_notes.is_left(store, state.session or ""):
            raise UserError(
                f"Run {run.id} is in progress in session {state.session}. Continue there, "
                f"or take it over with `/untilgreen resume {run.id} --take`."
            )
        await sending.deliver(run, Take(at=time()))
        session_notes.remove(store, state.session or "")
    known = found(store, session)
    if known is not None and known.note.run != run.id and not known.over:
        raise UserError(f"This session already has run {known.note.run}. Cancel that first.")
    top = await setup.top_of(state.plan, run.scratch)
    note = Note(session=session, agent=agent, run=run.id, top=str(top.resolve()))
    session_notes.write(store, note)
    try:
        arrival = Go(at=time(), session=session)
        return await _continued(note, run, store, arrival, own_turn=True, seconds=seconds)
    except (WorkspaceNotReady, JournalLocked):
        session_notes.remove(store, session)
        raise


async def hear(
    session_run: SessionRun, store: Store, arrival: FromASession, *, seconds: float | None = None
) -> SessionRun:
    """Take an arrival from a hook once the current driver is done, and do what is due."""
    if isinstance(arrival, TookOver | Left):
        return await _noticed(session_run, arrival)
    note, record = session_run.note, session_run.record
    while True:
        with suppress(JournalLocked):
            return await _continued(note, record, store, arrival, own_turn=False, seconds=seconds)
        await anyio.sleep(LOOK_SECONDS)


async def _noticed(session_run: SessionRun, arrival: TookOver | Left) -> SessionRun:
    """A person who takes over or leaves does not wait for gates: those of a dead hook are killed.

    Those of a living hook continue, and their verdicts wait for `go`.
    """
    record = session_run.record
    refused = await sending.deliver(record, arrival)
    with suppress(JournalLocked):
        async with record.hold(lock.this_process(time())):
            await record.scratch.clear_up(GRACE_SECONDS)
    if refused:
        raise ArrivalRefused(refused)
    return replace(session_run, state=await state_of(record))


async def _continued(
    note: Note,
    record: FolderRecord,
    store: Store,
    first: FromASession,
    *,
    own_turn: bool,
    seconds: float | None,
) -> SessionRun:
    warned: list[str] = []
    premises = LocalPremises(store, warn=warned.append)
    options = DriveOptions(first=first, seconds=seconds, warn=warned.append)
    session_run = await until_next_brief(note, record, store, premises, options, own_turn=own_turn)
    return replace(session_run, warnings=tuple(warned))


async def until_next_brief(
    note: Note,
    record: FolderRecord,
    store: Store,
    premises: LocalPremises,
    options: DriveOptions,
    *,
    own_turn: bool,
) -> SessionRun:
    """Do what is due until the session has to work, or the run is over."""
    seat = in_session(note.session, own_turn=own_turn)
    heard: list[Event] = []
    offered: list[Brief] = []

    def composed(state: RunState) -> Brief:
        offered.append(compose(state))
        return offered[-1]

    options = replace(
        options, listeners=(lambda event, _: heard.append(event),), compose=composed, signals=True
    )
    try:
        state = await drive(record, premises, seat, options)
    except ArrivalRefused:
        known = await state_of(record)
        if known.ending is None or known.outcome is not None:
            raise
        again = replace(options, first=None)
        state = await drive(record, premises, seat, again)  # a hook died, and only the end is left to do
    brief = offered[-1] if any(isinstance(event, BriefOffered) for event in heard) else None
    return without_note_if_over(store, SessionRun(note=note, record=record, state=state, brief=brief))


async def cancel(session: str, store: Store, *, by: str = "") -> SessionRun | None:
    """End the run of a session; None if it has none."""
    try:
        session_run = found(store, session)
    except JournalError:  # what can't be read can't be ended; the session is free again
        session_notes.remove(store, session)
        raise
    if session_run is None or session_run.over:
        session_notes.remove(store, session)
        return None
    await sending.deliver(session_run.record, Cancel(at=time(), by=by, reason="cancelled in its session"))
    await end_undriven(session_run.record, LocalPremises(store))
    return without_note_if_over(store, replace(session_run, state=await state_of(session_run.record)))


async def found_in(store: Store, directory: Path) -> SessionRun | None:
    """The run of the session that most recently worked in a directory; None if there is none."""
    repository = await StartFacts().repositories.find(directory)
    top = str((repository.top if repository else directory).resolve())
    here = [found(store, note.session) for note in session_notes.notes(store) if note.top == top]
    going = [session_run for session_run in here if session_run and not session_run.over]
    return max(going, key=lambda session_run: session_run.state.now, default=None)


def no_loop(where: str) -> str:
    """The error for a session or a directory without a run."""
    return f"No loop is active {where}. Start one with /ralph, or `untilgreen session start`."
