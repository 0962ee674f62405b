"""The state of a session's loop, as programs read it."""

from __future__ import annotations

from datetime import UTC, datetime

from untilgreen.core.values.state import RunState
from untilgreen.engine.session_plan import DESCRIPTION
from untilgreen.engine.store.session_runs import SessionRun
from untilgreen.journal.reader import read
from untilgreen.surfaces.hook.answers import resting, typed
from untilgreen.surfaces.json.lines import SessionLine


def line_of(session_run: SessionRun) -> SessionLine:
    """The loop of a session."""
    state, lap = session_run.state, session_run.state.open
    events, _ = read(session_run.record.journal)
    promise = state.plan.promise
    return SessionLine(
        active=state.outcome is None,
        iteration=lap.number if lap is not None else len(state.laps),
        max_iterations=state.plan.most_laps,
        completion_promise=promise.text if promise else None,
        started_at=_moment(events[0].at),
        last_iteration_at=_last(state),
        prompt=state.plan.task,
        session_id=session_run.note.session,
        description=state.plan.labels.get(DESCRIPTION, ""),
        run=state.run,
        agent=session_run.note.agent,
        waits="" if lap is not None and lap.in_session else typed(resting(state), session_run.note.agent),
    )


def _last(state: RunState) -> str | None:
    if state.open is not None and state.open.offered:
        return _moment(state.open.started)
    return _moment(state.laps[-1].started) if state.laps else None


def _moment(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds")
