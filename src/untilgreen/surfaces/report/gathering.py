"""A report on a run in its folder: its state, when it began, and what its laps changed."""

from __future__ import annotations

from untilgreen.core.state import RunState
from untilgreen.engine.store import RunFolder
from untilgreen.engine.trees import workspace_of
from untilgreen.engine.veil import secrets_of
from untilgreen.errors import UntilgreenError
from untilgreen.ports import Workspace
from untilgreen.surfaces.report.content import WHOLE, Report, gather


async def report_on(folder: RunFolder, state: RunState, head: str, *, flags: str = "") -> Report:
    """All of it; diffs are left out, with the reason, where the files can't be had any more."""
    try:
        diffs, missing = await _diffs(state, await workspace_of(state, folder)), ""
    except UntilgreenError as error:
        diffs, missing = {}, f"The changes can't be shown: {error}"
    return gather(state, head, started=_started(state), diffs=diffs, missing=missing, flags=flags)


async def _diffs(state: RunState, workspace: Workspace) -> dict[int, str]:
    found, secrets = {}, secrets_of(state.plan)
    for lap in state.iterations:
        if lap.base and lap.snapshot and lap.moved:
            found[lap.number] = secrets.cut(await workspace.diff(lap.base, lap.snapshot))
    first, last = state.snapshot_of(0), state.final_snapshot or state.tree
    if first and last and first != last:
        found[WHOLE] = secrets.cut(await workspace.diff(first, last))
    return found


def _started(state: RunState) -> float | None:
    first = state.baseline or (state.iterations[0] if state.iterations else state.open)
    return first.started if first else None
