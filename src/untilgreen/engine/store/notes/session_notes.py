"""Which session has which run: one small file for each session, found without reading a journal.

The folder of these notes exists only while there is a note, so that a hook without work needs a single check.
A note is written before the session's first brief and removed with the end of the run.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from time import time

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from untilgreen.core.loop.step import AwaitTurn, next_step
from untilgreen.core.values.state import RunState
from untilgreen.engine.store.atomic_file import put
from untilgreen.engine.store.runs import Store
from untilgreen.errors import JournalError, UserError, WorkspaceNotReady
from untilgreen.journal.fsync import read_regular
from untilgreen.regex import regex

FOLDER = "sessions"
QUIET_SECONDS = 2 * 3600.0
"""A session without activity for this long counts as abandoned."""
HASHED = "~"
"""The prefix of a note whose session id can't be a file name."""
_PLAIN = regex(r"[A-Za-z0-9][A-Za-z0-9_.-]{3,119}")


class Note(Struct, frozen=True, kw_only=True):
    """One session, its agent, and its run."""

    session: str
    agent: str
    run: str
    top: str
    """The directory that the run works in, or the git root above it."""
    transcript: str = ""
    """The agent's transcript of the session: shows whether the session exists and is active."""


def write(store: Store, note: Note) -> None:
    """Note that the session has this run."""
    path = _path(store, note.session)
    with store.explaining_errors():
        for _ in range(3):  # whoever removes the last note removes the folder too
            with suppress(FileNotFoundError):
                _folder(path)
                put(path, msgspec.json.encode(note))
                return
        _folder(path)
        put(path, msgspec.json.encode(note))


def _folder(path: Path) -> None:
    """The folder of the notes and the state directory above it are for their owner only."""
    path.parent.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.parent.mkdir(mode=0o700, exist_ok=True)


def remove(store: Store, session: str) -> None:
    """Remove the note: the session no longer has a run."""
    path = _path(store, session)
    with suppress(OSError):
        path.unlink()
    with suppress(OSError):
        path.parent.rmdir()


def find(store: Store, session: str) -> Note | None:
    """The note of a session."""
    note = _read(_path(store, session))
    return note if note is not None and note.session == session else None


def notes(store: Store) -> Iterator[Note]:
    """All notes; unreadable ones are skipped."""
    with suppress(OSError):
        for path in sorted((store.state_dir / FOLDER).iterdir()):
            note = _read(path)
            if note is not None:
                yield note


def seen(note: Note, transcript: str) -> Note:
    """The note with the session's transcript, as soon as there is one."""
    there = bool(transcript) and _changed(Path(transcript)) is not None
    return replace(note, transcript=transcript) if there else note


def holders(top: Path, store: Store, *, besides: str = "") -> Iterator[Note]:
    """The sessions that work in a directory, even if no process of ours runs now; not that of `besides`."""
    for note in notes(store):
        here = note.top == str(top.resolve()) and note.run != besides
        if here and _works(store, note) and not _left(store, note):
            yield note


def is_left(store: Store, session: str) -> bool:
    """Whether a session is gone: without a note or a transcript, or without activity for long."""
    note = find(store, session)
    return note is None or _left(store, note)


def check_free(top: Path, store: Store, *, besides: str) -> None:
    """Raise if a session works on a brief here: it keeps its directory."""
    for note in holders(top, store, besides=besides):
        raise WorkspaceNotReady(
            f"Run {note.run} works in {note.top!r}, in the {note.agent} session {note.session}. "
            f"Take it over with `untilgreen resume {note.run} --take`, "
            f"or end it with `untilgreen cancel {note.run}`."
        )


def check_left(state: RunState, session: str | None) -> None:
    """Raise if a session works on the run: it is driven from there, unless a person takes it over."""
    working = state.open is not None and state.open.in_session and state.ending is None
    if session is None and working:
        raise UserError(
            f"Run {state.run} is in progress in session {state.session}. Continue there, "
            f"or take it over with `untilgreen resume {state.run} --take`."
        )


def _left(store: Store, note: Note) -> bool:
    """Activity is what its hooks report, and what the agent writes to its transcript."""
    signs = [_changed(_path(store, note.session)), _changed(store.record(note.run).journal)]
    if note.transcript:
        written = _changed(Path(note.transcript))
        if written is None:  # a deleted session has no transcript any more
            return True
        signs.append(written)
    return time() - max((sign for sign in signs if sign is not None), default=0.0) > QUIET_SECONDS


def _changed(path: Path) -> float | None:
    try:
        return path.stat().st_mtime
    except (OSError, ValueError):
        return None


def _works(store: Store, note: Note) -> bool:
    try:
        state = store.record(note.run).read().state
    except JournalError:
        return False
    return isinstance(next_step(state), AwaitTurn)


def _path(store: Store, session: str) -> Path:
    plain = _PLAIN.fullmatch(session) is not None
    mark = blake2b(session.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()
    return store.state_dir / FOLDER / (session if plain else HASHED + mark)


def _read(path: Path) -> Note | None:
    try:
        return msgspec.json.decode(read_regular(path), type=Note)
    except (OSError, ValueError, RecursionError):
        return None
