"""Collect a report on a run: its state, when it began, and the diff of each lap."""

from __future__ import annotations

from untilgreen.core.values.state import RunState
from untilgreen.engine.wiring.redaction import secrets_of
from untilgreen.engine.worktree.snapshots import Opened, Snapshots
from untilgreen.errors import UntilgreenError
from untilgreen.surfaces.report.content import WHOLE, Report, gather


async def report_on(opened: Opened, state: RunState, head: str, *, flags: str = "") -> Report:
    """The whole report; without diffs, and with the reason, if the snapshots are gone."""
    try:
        diffs, missing = await _diffs(state, await opened()), ""
    except UntilgreenError as error:
        diffs, missing = {}, f"The changes can't be shown: {error}"
    return gather(state, head, started=_started(state), diffs=diffs, missing=missing, flags=flags)


async def _diffs(state: RunState, snapshots: Snapshots) -> dict[int, str]:
    found, secrets = {}, secrets_of(state.plan)
    for lap in state.laps:
        if lap.base and lap.snapshot and lap.moved:
            found[lap.number] = secrets.redact(await snapshots.diff(lap.base, lap.snapshot))
    first, last = state.snapshot_of(0), state.final_snapshot or state.tree
    if first and last and first != last:
        found[WHOLE] = secrets.redact(await snapshots.diff(first, last))
    return found


def _started(state: RunState) -> float | None:
    first = state.baseline or (state.laps[0] if state.laps else state.open)
    return first.started if first else None
