"""Take a run from the agent session that works on it."""

from __future__ import annotations

import time

import anyio

from untilgreen.core.loop.session_arrivals import Take
from untilgreen.engine.driving.sending import deliver
from untilgreen.engine.store.folder_record import FolderRecord
from untilgreen.engine.store.notes.session_notes import check_left, is_left
from untilgreen.engine.store.runs import Store
from untilgreen.surfaces.cli.caller import me, refuse_agents


def leave_the_session(folder: FolderRecord, *, take: bool) -> None:
    """Refuse while a session works on the run, unless a person takes it over or the session is gone."""
    state = folder.read().state
    working = state.outcome is None and state.open is not None and state.open.in_session
    if working and (take or is_left(Store(folder.path.parents[1]), state.session or "")):
        refuse_agents("resume --take", folder.path.parents[1])
        anyio.run(deliver, folder, Take(at=time.time(), by=me()))
        return
    check_left(state, None)
