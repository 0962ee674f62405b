"""Which session has which run: one small file for each, which a hook finds without reading a journal.

The folder of these notes is there only while there is a note, so that a hook without any work to do needs one
look. A note is written before the session's first brief and removed with the end of the run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

import msgspec
from msgspec import Struct

from untilgreen.core.state import RunState
from untilgreen.core.step import AwaitTurn, next_step
from untilgreen.engine import ids
from untilgreen.engine.store import RunFolder, Store, put
from untilgreen.engine.told import told
from untilgreen.errors import JournalError, UserError, WorkspaceNotReady

FOLDER = "sessions"
HASHED = "~"
"""What the name of a note begins with where the session's id can't be a file's name."""
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{3,119}")


class Note(Struct, frozen=True, kw_only=True):
    """One session, its agent, and its run."""

    session: str
    agent: str
    run: str
    top: str
    """The directory that the run works in, or the git root above it."""


def write(store: Store, note: Note) -> None:
    """From now on the session has this run."""
    path = _path(store, note.session)
    with store.used():
        for _ in range(3):  # who removes the last note removes the folder
            with suppress(FileNotFoundError):
                path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                put(path, msgspec.json.encode(note))
                return
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        put(path, msgspec.json.encode(note))


def remove(store: Store, session: str) -> None:
    """The session has no run any more."""
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
    """All notes; one that can't be read is none."""
    with suppress(OSError):
        for path in sorted((store.state_dir / FOLDER).iterdir()):
            note = _read(path)
            if note is not None:
                yield note


def folder_of(store: Store, note: Note) -> RunFolder:
    """Where the run of a note is kept."""
    return RunFolder(store.state_dir / ids.RUNS / note.run)


def check_free(top: Path, store: Store, *, besides: str) -> None:
    """A session that works on a brief has its directory, though none of our processes runs meanwhile."""
    for note in notes(store):
        if note.top == str(top.resolve()) and note.run != besides and _works(store, note):
            raise WorkspaceNotReady(
                f"Run {note.run} works in {note.top!r}, inside the {note.agent} session {note.session}. "
                f"End it with `untilgreen cancel {note.run}`, or wait for its end."
            )


def check_left(state: RunState, session: str | None) -> None:
    """A session that works on a brief has the run: it is driven from there, unless a person takes it."""
    working = state.open is not None and state.open.in_session and state.ending is None
    if session is None and working:
        raise UserError(
            f"Run {state.run} is worked on in the session {state.session}. Go on there, "
            f"or take it out of the session with `untilgreen resume {state.run} --take`."
        )


def _works(store: Store, note: Note) -> bool:
    try:
        state, _ = told(folder_of(store, note))
    except JournalError:
        return False
    return isinstance(next_step(state), AwaitTurn)


def _path(store: Store, session: str) -> Path:
    plain = _PLAIN.fullmatch(session) is not None
    mark = blake2b(session.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()
    return store.state_dir / FOLDER / (session if plain else HASHED + mark)


def _read(path: Path) -> Note | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=Note)
    except (OSError, ValueError, RecursionError):
        return None
