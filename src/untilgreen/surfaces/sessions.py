"""How a loop inside of a session stands, as programs read it."""

from __future__ import annotations

from datetime import UTC, datetime

from untilgreen.core.state import RunState
from untilgreen.engine.inside import DESCRIPTION, Standing
from untilgreen.journal.disk import read
from untilgreen.surfaces.hook.answers import resting, typed
from untilgreen.surfaces.output import SessionLine


def line_of(standing: Standing) -> SessionLine:
    """The loop of a session."""
    state, lap = standing.state, standing.state.open
    events, _ = read(standing.folder.journal)
    most, promise = state.plan.limits.iterations, state.plan.promise
    return SessionLine(
        active=state.outcome is None,
        iteration=lap.number if lap is not None else len(state.iterations),
        max_iterations=None if most is None else int(most),
        completion_promise=promise.text if promise else None,
        started_at=_moment(events[0].at),
        last_iteration_at=_last(state),
        prompt=state.plan.task,
        session_id=standing.note.session,
        description=state.plan.labels.get(DESCRIPTION, ""),
        run=state.run,
        agent=standing.note.agent,
        waits="" if lap is not None and lap.in_session else typed(resting(state), standing.note.agent),
    )


def _last(state: RunState) -> str | None:
    if state.open is not None and state.open.offered:
        return _moment(state.open.started)
    return _moment(state.iterations[-1].started) if state.iterations else None


def _moment(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds")
