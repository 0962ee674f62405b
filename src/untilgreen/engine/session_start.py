"""Starts a run in an agent's session: its plan, its record, and its first brief."""

from __future__ import annotations

from time import time

from msgspec.structs import replace

from untilgreen.core.loop.session_arrivals import Take
from untilgreen.engine.driving import sending
from untilgreen.engine.driving.drive import DriveOptions
from untilgreen.engine.driving.start import start
from untilgreen.engine.operations.prune import discard
from untilgreen.engine.session_loop import cancel, until_next_brief
from untilgreen.engine.session_plan import LoopRequest, session_plan
from untilgreen.engine.store.notes import session_notes
from untilgreen.engine.store.notes.session_notes import Note
from untilgreen.engine.store.runs import Store
from untilgreen.engine.store.session_runs import SessionRun, found
from untilgreen.engine.worktree import setup
from untilgreen.engine.worktree.premises import LocalPremises, StartFacts
from untilgreen.errors import UserError, WorkspaceNotReady


async def begin(wish: LoopRequest, store: Store, *, seconds: float | None = None) -> SessionRun:
    """Start a run in a session and offer its first brief."""
    if not wish.session.strip():
        raise UserError("A loop belongs to a session, and none was named. Name it with --session ID.")
    known = StartFacts()
    planned = session_plan(wish, store)
    plan, warned = planned.plan, list(planned.warnings)
    await _make_room(wish, store)
    await _free_directory(wish, store, known)
    record = await start(plan, store, known, warn=warned.append, in_session=True)
    top = await setup.top_of(plan, record.scratch, known.repositories)
    note = Note(session=wish.session, agent=wish.agent, run=record.id, top=str(top.resolve()))
    try:
        session_notes.write(store, session_notes.seen(note, wish.transcript))
        premises = LocalPremises(store, known, warn=warned.append)
        options = DriveOptions(objects=planned.objects, seconds=seconds, warn=warned.append)
        session_run = await until_next_brief(note, record, store, premises, options, own_turn=True)
        return replace(session_run, warnings=tuple(warned))
    except WorkspaceNotReady:
        session_notes.remove(store, wish.session)
        await discard(record)
        raise


async def _free_directory(wish: LoopRequest, store: Store, known: StartFacts) -> None:
    """Another session that works here keeps the directory, unless it is abandoned or a person takes over."""
    repository = await known.repositories.find(wish.directory)
    top = repository.top if repository else wish.directory
    for note in session_notes.holders(top, store):
        if not wish.take:
            raise WorkspaceNotReady(
                f"Run {note.run} works in {note.top!r}, in the {note.agent} session {note.session}. "
                f"Add --take to take the directory over, or end that run with `untilgreen cancel {note.run}`."
            )
        await sending.deliver(store.record(note.run), Take(at=time()))


async def _make_room(wish: LoopRequest, store: Store) -> None:
    """A session can have one run: an open one is an error, unless it is to be replaced."""
    before = found(store, wish.session)
    if before is None or before.over:
        return
    await discard(before.record)
    if not before.record.complete:  # a start that died before anything was done
        return
    if not wish.replace:
        raise UserError(
            f"This session already has run {before.note.run} ({before.state.plan.title}). "
            "End it with /cancel-ralph, or add --replace."
        )
    await cancel(wish.session, store, by="replaced")
