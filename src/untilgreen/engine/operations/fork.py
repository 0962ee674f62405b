"""Makes a new run from another one: with its plan, perhaps changed, and the files of a lap."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

from msgspec.structs import replace

from untilgreen.config.from_plan import values_of
from untilgreen.config.load import Given, Loaded
from untilgreen.core.loop.receive import Steer
from untilgreen.core.values.model import Plan
from untilgreen.core.values.state import RunState
from untilgreen.core.values.units import several
from untilgreen.engine.driving.sending import deliver
from untilgreen.engine.driving.start import start
from untilgreen.engine.store.folder_record import FolderRecord
from untilgreen.engine.store.runs import Store
from untilgreen.engine.wiring.objects import Objects
from untilgreen.engine.wiring.plan import plan_of
from untilgreen.engine.wiring.plugin_copies import copies_in
from untilgreen.engine.wiring.workplace import base_of, in_worktree, workplace
from untilgreen.engine.wiring.workplace import start_of as start_in_plan
from untilgreen.errors import UserError

MOST_LAPS_TOLD, MOST_NAMED, LONGEST_NAME = 12, 3, 80
"""How many earlier laps the agent of a fork is told about; a note has no room for more."""


def spec_of(state: RunState) -> Given:
    """The plan of a run as a spec that other values can override."""
    return Given(values=values_of(state.plan), name=f"run {state.run}", base=base_of(state.plan))


def start_of(state: RunState) -> Path:
    """The directory that the run was started in, and that its fork is started in."""
    return start_in_plan(state.plan)


async def fork(
    state: RunState,
    folder: FolderRecord,
    store: Store,
    loaded: Loaded,
    *,
    lap: int,
    snapshot: str,
    note: Steer | None,
    warn: Callable[[str], None],
) -> FolderRecord:
    """Make the new run, without driving it yet."""
    plan, copies = plan_of_fork(state, folder, loaded, lap=lap, snapshot=snapshot)
    made = await start(plan, store, copies=copies, warn=warn)
    if note is not None:
        await deliver(made, note)
    return made


def plan_of_fork(
    state: RunState, folder: FolderRecord, loaded: Loaded, *, lap: int, snapshot: str
) -> tuple[Plan, dict[str, Path]]:
    """The plan of the new run, and the other's copies of its plugins."""
    copies = copies_in(state.plan, folder.code)
    plan = plan_of(loaded, start_of(state), Objects(loaded.base.absolute(), copies))
    return _begins(plan, state, lap, snapshot), copies


def told_before(state: RunState) -> str:
    """What the laps of a run did, for the agent that continues its work."""
    ended = f" and ended as {state.outcome}: {state.reason}" if state.outcome else ""
    lines = [f"Run {state.run} worked on this before you{ended}. What its laps did:"]
    played = list(pairwise(state.baseline_and_laps))
    if len(played) > MOST_LAPS_TOLD:
        lines.append(f"- {several(len(played) - MOST_LAPS_TOLD, 'earlier lap')}, not shown")
    for before, lap in played[-MOST_LAPS_TOLD:]:
        files = _names([change.path for change in lap.changes]) if lap.changes else "nothing"
        changes = (("fixed", before.failing - lap.failing), ("broke", lap.failing - before.failing))
        moved = [f"{verb} {_names(sorted(names))}" for verb, names in changes if names] or ["no progress"]
        lines.append(f"- lap {lap.number} changed {files}: {'; '.join(moved)}; {lap.count} left")
    return "\n".join(lines)


def _names(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return ", ".join(name[:LONGEST_NAME] for name in names[:MOST_NAMED]) + more


def _begins(plan: Plan, state: RunState, lap: int, snapshot: str) -> Plan:
    where, before = dict(plan.workspace), workplace(state.plan)
    if in_worktree(plan):
        if not before.repository or before.commit is None:
            raise UserError(
                f"Run {state.run} did not start from a commit, so its fork can't use a worktree. "
                "Fork it with --in-place."
            )
        where["commit"] = before.commit
    return replace(plan, workspace={**where, "tree": snapshot, "forked": f"{state.run}@{lap}"})
