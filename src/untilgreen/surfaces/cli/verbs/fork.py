"""fork: start a new run from a lap of another one."""

from __future__ import annotations

import secrets
import time
from dataclasses import replace
from typing import Annotated

import anyio
from cyclopts import Parameter

from untilgreen.core.loop.receive import Steer
from untilgreen.core.values.model import WORKTREE
from untilgreen.core.values.state import RunState
from untilgreen.engine.operations.fork import fork as make_fork
from untilgreen.engine.operations.fork import plan_of_fork, spec_of, start_of, told_before
from untilgreen.engine.store.folder_record import FolderRecord
from untilgreen.engine.store.reading import state_of
from untilgreen.errors import UserError
from untilgreen.surfaces.cli import completers
from untilgreen.surfaces.cli.caller import me, refuse_agents
from untilgreen.surfaces.cli.lap_names import BEST, lap_number, laps, snapshot_of
from untilgreen.surfaces.cli.options import (
    HERE,
    NO_PLAN_FLAGS,
    NO_VIEW_FLAGS,
    OPTIONS,
    Place,
    PlanFlags,
    ViewFlags,
)
from untilgreen.surfaces.cli.verbs.run import launch
from untilgreen.surfaces.cli.verbs.run import note as say_note


def fork(
    run: Annotated[
        str,
        Parameter(
            completer=completers.runs,
            help="RUN@LAP, such as @last@3; without a lap, its best one.",
        ),
    ] = "@last",
    task: str | None = None,
    /,
    *,
    more: Annotated[
        int | None,
        Parameter(metavar="N", help="Continue with N more laps from the files that it left.", group=OPTIONS),
    ] = None,
    note: Annotated[
        str, Parameter(metavar="TEXT", help="A note for the agent, in addition to the task.", group=OPTIONS)
    ] = "",
    spec: PlanFlags = NO_PLAN_FLAGS,
    place: Place = HERE,
    view: ViewFlags = NO_VIEW_FLAGS,
) -> int:
    """Start a new run from a lap of another one, with its plan; your files are saved first.

    Parameters
    ----------
    task
        A task other than the run's; - reads it from stdin.
    """
    name, lap, second = laps(run)
    if second is not None:
        raise UserError(f"A fork starts from one lap. Write it like {name}@{lap}.")
    folder, store = place.find(name, snapshots=True), place.store()
    state = anyio.run(state_of, folder)
    if more is not None:
        spec = _with_more(spec, more)
    lap = lap or (_left(state) if more is not None else BEST)
    number, snapshot = lap_number(state, lap), snapshot_of(state, lap)
    loaded = spec.load_over(spec_of(state), start_of(state), task)
    if loaded.spec.workspace["mode"] != WORKTREE:
        refuse_agents("fork --in-place", place.store().state_dir)
    told = "\n\n".join(each for each in (note, told_before(state) if more and state.laps else "") if each)
    steer = Steer(at=time.time(), by=me(), id=secrets.token_hex(8), note=told) if told else None

    if folder.in_fleet:
        from untilgreen.surfaces.cli.fleet_runs import begin_in_fleet

        plan, copies = plan_of_fork(state, folder, loaded, lap=number, snapshot=snapshot)
        return begin_in_fleet(plan, say_note, json=view.json, note=steer, copies=copies)

    async def begin() -> FolderRecord:
        return await make_fork(
            state, folder, store, loaded, lap=number, snapshot=snapshot, note=steer, warn=say_note
        )

    return launch(begin, place, view)


def _left(state: RunState) -> str:
    """The lap whose files the run left: a run that somebody stopped continues from there."""
    same = [each.number for each in state.baseline_and_laps if each.snapshot == state.final_snapshot]
    return str(same[-1]) if state.final_snapshot and same else BEST


def _with_more(spec: PlanFlags, more: int) -> PlanFlags:
    if more < 1 or spec.max_iterations is not None:
        raise UserError(
            "--more N is the number of laps of the new run: at least 1, and without --max-iterations."
        )
    return replace(spec, max_iterations=str(more))
