"""Taking a run out of the session that works on it."""

from __future__ import annotations

import time

import anyio

from untilgreen.core.inside import Take
from untilgreen.engine.mail import deliver
from untilgreen.engine.sessions import check_left
from untilgreen.engine.store import RunFolder
from untilgreen.engine.told import told
from untilgreen.surfaces.cli.look import me, refuse_agents


def leave_the_session(folder: RunFolder, *, take: bool) -> None:
    """A session that works on a brief has the run, unless a person takes it; its next stop is let go."""
    state, _ = told(folder)
    if take and state.outcome is None and state.open is not None and state.open.in_session:
        refuse_agents("resume --take", folder.path.parents[1])
        anyio.run(deliver, folder, Take(at=time.time(), by=me()))
        return
    check_left(state, None)
