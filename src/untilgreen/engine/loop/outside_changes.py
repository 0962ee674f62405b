"""Finds files that changed only between turns: a person saved them, or a gate left them."""

from __future__ import annotations

from untilgreen.core.values.state import Lap, Open, RunState
from untilgreen.ports import Workspace


async def saved_between_turns(state: RunState, snapshot: str, workspace: Workspace) -> frozenset[str]:
    """The paths that a restore of that snapshot must leave alone, since no turn after it changed them."""
    saved: set[str] = set()
    touched: set[str] = set()
    for lap in _since(state, snapshot):
        if lap.outside is not None:
            found, begun = lap.outside
            saved |= await _changed(workspace, found, begun)
            touched |= await _changed(workspace, begun, lap.snapshot or begun)
    return frozenset(saved - touched)


def _since(state: RunState, snapshot: str) -> list[Lap | Open]:
    """The laps after the last one that left this snapshot; none if no lap did."""
    laps = [lap for lap in (state.baseline, *state.laps, state.open) if lap is not None]
    behind = [place for place, lap in enumerate(laps, 1) if lap.snapshot == snapshot]
    if not behind and snapshot == state.snapshot_of(0):
        return laps
    return laps[behind[-1] :] if behind else []


async def _changed(workspace: Workspace, before: str, after: str) -> set[str]:
    if before == after:
        return set()
    return {change.path for change in await workspace.changes(before, after)}
