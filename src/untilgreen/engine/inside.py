"""A run inside of an agent's session: started, gone on with, told what happens there, and looked at.

No process of ours lives while the agent works. Each call takes the run's lock, does what is due, and ends;
what the session is to be told is in the state that it returns.
"""

from __future__ import annotations

import dataclasses
import os
from contextlib import suppress
from functools import partial
from pathlib import Path
from time import time

import anyio
from msgspec import Struct
from msgspec.structs import replace

from untilgreen.config.load import Loaded, Request, load
from untilgreen.core.brief import Brief, compose
from untilgreen.core.continuation import check_template
from untilgreen.core.events import BriefOffered, Event
from untilgreen.core.inside import FromASession, Go, Left, TookOver
from untilgreen.core.model import Plan
from untilgreen.core.receive import Cancel
from untilgreen.core.state import RunState
from untilgreen.engine import lock, mail, sessions, worktrees
from untilgreen.engine.drive import clear_up, drive, start, state_of
from untilgreen.engine.pruning import discard
from untilgreen.engine.seat import in_session
from untilgreen.engine.sessions import Note
from untilgreen.engine.store import RunFolder, Store
from untilgreen.engine.trust import TrustBook, Untrusted
from untilgreen.engine.wiring import check_installed, plan_of
from untilgreen.errors import ArrivalRefused, JournalError, JournalLocked, UserError, WorkspaceNotReady
from untilgreen.process.note import GRACE_SECONDS

PROMISE = "DONE"
STRATEGY = "ralph"
DESCRIPTION = "description"
"""The label that a session's description is kept under."""
LOOK_SECONDS = 0.05


class Wish(Struct, frozen=True, kw_only=True):
    """What is wanted of a loop inside of a session."""

    session: str
    agent: str
    task: str
    directory: Path
    max_iterations: str | None = None
    promise: str | None = None
    description: str = ""
    gates: dict[str, dict[str, str]] = {}
    strategy: str | None = None
    replace: bool = False


class Standing(Struct, frozen=True, kw_only=True):
    """A session's run, and how it stands."""

    note: Note
    folder: RunFolder
    state: RunState
    told: tuple[Event, ...] = ()
    """What happened in this call."""
    warnings: tuple[str, ...] = ()
    """What a person should know about it."""

    @property
    def brief(self) -> Brief | None:
        """What the session is to work on, where this call offered it."""
        return self.out if any(isinstance(event, BriefOffered) for event in self.told) else None

    @property
    def out(self) -> Brief | None:
        """The brief that the session works on."""
        lap = self.state.open
        if lap is None or not lap.in_session:
            return None
        return compose(replace(self.state, notes_told=lap.notes_from))


async def begin(wish: Wish, store: Store, *, seconds: float | None = None) -> Standing:
    """Start a run in a session and offer its first brief."""
    if not wish.session.strip():
        raise UserError("A loop belongs to a session, and none was named. Name it with --session ID.")
    plan = _plan(wish, store)
    await _make_room(wish, store)
    warned: list[str] = []
    folder = await start(plan, store, warn=warned.append)
    top = await worktrees.top_of(plan, folder)
    note = Note(session=wish.session, agent=wish.agent, run=folder.id, top=str(top.resolve()))
    try:
        sessions.write(store, note)
        standing = await _drive(note, store, None, own_turn=True, seconds=seconds)
        return replace(standing, warnings=(*warned, *standing.warnings))
    except WorkspaceNotReady:
        sessions.remove(store, wish.session)
        await discard(folder)
        raise


async def go(session: str, store: Store, *, by: str = "", seconds: float | None = None) -> Standing:
    """Offer the lap that waits, in a turn that a person began."""
    standing = await found(store, session)
    if standing is None:
        raise UserError(no_loop(session))
    arrival = Go(at=time(), by=by, session=session)
    return await _drive(standing.note, store, arrival, own_turn=True, seconds=seconds)


async def adopt(
    run: RunFolder, session: str, agent: str, store: Store, *, seconds: float | None = None
) -> Standing:
    """Go on inside of a session with a run that was driven elsewhere."""
    state = await state_of(run)
    if state.outcome is not None:
        raise UserError(f"Run {run.id} has ended: {state.outcome}. Start another one.")
    if state.open is not None and state.open.in_session and state.session != session:
        raise UserError(f"Run {run.id} is worked on in session {state.session}. Go on there, or cancel it.")
    known = sessions.find(store, session)
    if known is not None and known.run != run.id and not _over(await found(store, session)):
        raise UserError(f"This session has run {known.run} already. Cancel that first.")
    top = await worktrees.top_of(state.plan, run)
    note = Note(session=session, agent=agent, run=run.id, top=str(top.resolve()))
    sessions.write(store, note)
    try:
        return await _drive(note, store, Go(at=time(), session=session), own_turn=True, seconds=seconds)
    except (WorkspaceNotReady, JournalLocked):
        sessions.remove(store, session)
        raise


async def hear(note: Note, store: Store, arrival: FromASession, *, seconds: float | None = None) -> Standing:
    """Take what a hook brings, after whoever drives at this moment, and do what is due."""
    if isinstance(arrival, TookOver | Left):
        return await _noticed(note, store, arrival)
    while True:
        with suppress(JournalLocked):
            return await _drive(note, store, arrival, own_turn=False, seconds=seconds)
        await anyio.sleep(LOOK_SECONDS)


async def _noticed(note: Note, store: Store, arrival: TookOver | Left) -> Standing:
    """A person who took over, or left, waits for no gates: those of a dead hook are ended.

    Those of one that lives go on, and what comes of them waits for `go`.
    """
    folder = sessions.folder_of(store, note)
    refused = await mail.deliver(folder, arrival)
    with suppress(JournalLocked), lock.hold(folder.lock, run=folder.id, now=time()):
        await clear_up(folder, GRACE_SECONDS)
    if refused:
        raise ArrivalRefused(refused)
    return Standing(note=note, folder=folder, state=await state_of(folder))


async def _drive(
    note: Note, store: Store, first: FromASession | None, *, own_turn: bool, seconds: float | None
) -> Standing:
    heard: list[Event] = []
    warned: list[str] = []
    folder, seat = sessions.folder_of(store, note), in_session(note.session, own_turn=own_turn)
    go_on = partial(
        drive,
        folder,
        store,
        seat,
        listeners=(lambda event, _: heard.append(event),),
        signals=True,
        warn=warned.append,
        seconds=seconds,
    )
    try:
        state = await go_on(first=first)
    except ArrivalRefused:
        known = await state_of(folder)
        if known.ending is None or known.outcome is not None:
            raise
        state = await go_on()  # a hook that died left nothing but the end to do
    told = Standing(note=note, folder=folder, state=state, told=tuple(heard), warnings=tuple(warned))
    return settled(store, told)


async def cancel(session: str, store: Store, *, by: str = "") -> Standing | None:
    """End the run of a session; None where it has none."""
    try:
        standing = await found(store, session)
    except JournalError:  # what can't be read can't be ended; the session is free again
        sessions.remove(store, session)
        raise
    if standing is None or _over(standing):
        sessions.remove(store, session)
        return None
    await mail.deliver(standing.folder, Cancel(at=time(), by=by, reason="cancelled in its session"))
    await mail.conclude(standing.folder, store)
    return settled(store, replace(standing, state=await state_of(standing.folder)))


async def found(store: Store, session: str) -> Standing | None:
    """How the run of a session stands; None where it has none."""
    note = sessions.find(store, session)
    if note is None:
        return None
    folder = sessions.folder_of(store, note)
    if not folder.complete:
        sessions.remove(store, session)
        return None
    return Standing(note=note, folder=folder, state=await state_of(folder))


def settled(store: Store, standing: Standing) -> Standing:
    """A run that is over leaves its session."""
    if _over(standing):
        sessions.remove(store, standing.note.session)
    return standing


def no_loop(session: str) -> str:
    """For whoever asks a session that has no run."""
    return f"No loop is active in session {session!r}. Start one with /ralph, or `untilgreen session start`."


def _over(standing: Standing | None) -> bool:
    return standing is None or standing.state.outcome is not None


async def _make_room(wish: Wish, store: Store) -> None:
    """One run for a session: an open one is in the way, unless it is to be replaced."""
    before = await found(store, wish.session)
    if before is None or _over(before):
        return
    await discard(before.folder)
    if not before.folder.complete:  # a start that died before anything was done
        return
    if not wish.replace:
        raise UserError(
            f"This session has run {before.note.run} already ({before.state.plan.title}). "
            "End it with /cancel-ralph, or add --replace."
        )
    await cancel(wish.session, store, by="replaced")


def _plan(wish: Wish, store: Store) -> Plan:
    """The spec of the directory, as it holds inside of a session: in place, and the files stay."""
    loaded = _loaded(wish)
    if not loaded.spec.session.enabled:
        raise UserError(
            "Loops inside of a session are switched off here: session.enabled = false in the spec."
        )
    try:
        check_installed(loaded)
        TrustBook(store).require(loaded)
    except Untrusted as unknown:
        raise UserError(
            f"{unknown} Look at it in a terminal of your own with `untilgreen trust`, then start again."
        ) from unknown
    plan = plan_of(loaded, wish.directory)
    labels = {**plan.labels, DESCRIPTION: wish.description} if wish.description else plan.labels
    return replace(
        plan, session="continue", leave="last", on_interrupt="keep", labels=labels, template=_template(loaded)
    )


def _loaded(wish: Wish) -> Loaded:
    """The promise and the laps of the start, else those of `[session]`, else the usual ones."""
    flags: dict[str, object] = {
        "agents": [wish.agent],
        "strategy": wish.strategy or STRATEGY,
        "workspace": {"mode": "in-place"},
    }
    if wish.gates:
        flags["gates"] = wish.gates
    request = Request(start=wish.directory, flags=flags, task=wish.task, env=os.environ)
    spec = load(request).spec
    table, laps = spec.session, wish.max_iterations
    if laps is None and table.max_iterations is not None:
        laps = str(table.max_iterations)
    promise = wish.promise or table.promise or spec.file.promise or PROMISE
    flags["promise"] = promise if wish.promise is None else wish.promise
    return load(dataclasses.replace(request, flags=flags, max_iterations=laps))


def _template(loaded: Loaded) -> str:
    name = loaded.spec.session.brief
    if name is None:
        return ""
    try:
        text = (loaded.base / name).read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        raise UserError(
            f"session.brief = {name!r} can't be read: {error}. Correct it, or drop it."
        ) from error
    return check_template(text, f"session.brief = {name!r}")
