"""The run of an agent's session and its state, read without an event loop."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from untilgreen.core.briefing.brief import Brief, compose
from untilgreen.core.values.state import RunState
from untilgreen.engine.store.folder_record import FolderRecord
from untilgreen.engine.store.notes import session_notes
from untilgreen.engine.store.notes.session_notes import Note
from untilgreen.engine.store.runs import Store


class SessionRun(Struct, frozen=True, kw_only=True):
    """A session's run and its state."""

    note: Note
    record: FolderRecord
    state: RunState
    warnings: tuple[str, ...] = ()
    """What a person should know about it."""
    brief: Brief | None = None
    """The brief that this call offered, if any."""

    @property
    def over(self) -> bool:
        """Whether the run has ended."""
        return self.state.outcome is not None

    @property
    def out(self) -> Brief | None:
        """The brief that the session works on."""
        lap = self.state.open
        if lap is None or not lap.in_session:
            return None
        return compose(replace(self.state, notes_told=lap.notes_from))


def found(store: Store, session: str) -> SessionRun | None:
    """The run of a session and its state; None if it has none."""
    note = session_notes.find(store, session)
    if note is None:
        return None
    record = store.record(note.run)
    if not record.complete:
        session_notes.remove(store, session)
        return None
    return SessionRun(note=note, record=record, state=record.read().state)


def without_note_if_over(store: Store, session_run: SessionRun) -> SessionRun:
    """Remove the note of a run that is over."""
    if session_run.over:
        session_notes.remove(store, session_run.note.session)
    return session_run
