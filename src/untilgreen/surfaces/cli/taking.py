"""Taking a run out of the session that works on it."""

from __future__ import annotations

import time

import anyio

from untilgreen.core.inside import Take
from untilgreen.engine.mail import deliver
from untilgreen.engine.store import RunFolder
from untilgreen.engine.told import told
from untilgreen.errors import UserError
from untilgreen.surfaces.cli.look import me, refuse_agents


def leave_the_session(folder: RunFolder, *, take: bool) -> None:
    """A session that works on a brief has the run, unless a person takes it; its next stop is let go."""
    state, _ = told(folder)
    if state.outcome is not None or state.open is None or not state.open.in_session:
        return
    if not take:
        raise UserError(
            f"Run {folder.id} is worked on in the session {state.session}. Go on there, "
            f"or take it out of the session with `untilgreen resume {folder.id} --take`."
        )
    refuse_agents("resume --take")
    anyio.run(deliver, folder, Take(at=time.time(), by=me()))
