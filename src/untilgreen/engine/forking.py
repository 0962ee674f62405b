"""Another run out of one: its plan, changed where somebody wants it otherwise, from the files of a lap."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace

from untilgreen.config.again import values_of
from untilgreen.config.load import Given, Loaded
from untilgreen.core.model import Plan
from untilgreen.core.receive import Steer
from untilgreen.core.state import RunState
from untilgreen.engine import wiring
from untilgreen.engine.drive import start
from untilgreen.engine.mail import deliver
from untilgreen.engine.places import COMMIT, FORKED, REPOSITORY, TREE, in_worktree
from untilgreen.engine.store import RunFolder, Store
from untilgreen.errors import UserError


def spec_of(state: RunState) -> Given:
    """The plan of a run as a spec that others can be laid over."""
    return Given(values=values_of(state.plan), name=f"run {state.run}", base=wiring.base_of(state.plan))


def start_of(state: RunState) -> Path:
    """The directory that the run was started in, and that its fork is started in."""
    return Path(state.plan.workspace[wiring.START])


async def fork(
    state: RunState,
    folder: RunFolder,
    store: Store,
    loaded: Loaded,
    *,
    lap: int,
    snapshot: str,
    note: Steer | None,
    warn: Callable[[str], None],
) -> RunFolder:
    """Make the new run; nothing is driven yet."""
    copies = wiring.copies_in(state.plan, folder.code)
    plan = wiring.plan_of(loaded, start_of(state), copies)
    made = await start(_begins(plan, state, lap, snapshot), store, copies=copies, warn=warn)
    if note is not None:
        await deliver(made, note)
    return made


def _begins(plan: Plan, state: RunState, lap: int, snapshot: str) -> Plan:
    where, before = dict(plan.workspace), state.plan.workspace
    if in_worktree(plan):
        if before.get(REPOSITORY) is None or before.get(COMMIT) is None:
            raise UserError(
                f"Run {state.run} did not begin with a commit, so that no worktree can. "
                "Fork it with --in-place."
            )
        where[COMMIT] = before[COMMIT]
    return replace(plan, workspace={**where, TREE: snapshot, FORKED: f"{state.run}@{lap}"})
