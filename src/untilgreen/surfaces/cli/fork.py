"""fork: the verb that begins another run where one has been."""

from __future__ import annotations

import secrets
import time
from typing import Annotated

import anyio
from cyclopts import Parameter

from untilgreen.core.model import WORKTREE
from untilgreen.core.receive import Steer
from untilgreen.engine.drive import state_of
from untilgreen.engine.forking import fork as make_fork
from untilgreen.engine.forking import spec_of, start_of
from untilgreen.engine.store import RunFolder
from untilgreen.errors import UserError
from untilgreen.surfaces.cli import completing
from untilgreen.surfaces.cli.drive import Detach, NoInput, Plain, Quiet, Shown, Verbose, drive_new
from untilgreen.surfaces.cli.drive import note as say_note
from untilgreen.surfaces.cli.look import me, refuse_agents
from untilgreen.surfaces.cli.options import HERE, UNSAID, Json, Place, SpecFlags
from untilgreen.surfaces.cli.trees import BEST, lap_number, laps, snapshot_of


def fork(
    run: Annotated[
        str,
        Parameter(
            completer=completing.runs, help="RUN@LAP, for example @last@3; without a lap the best one."
        ),
    ],
    task: str | None = None,
    /,
    *,
    note: Annotated[str, Parameter(help="Something for the agent to know, beside the task.")] = "",
    spec: SpecFlags = UNSAID,
    place: Place = HERE,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    plain: Plain = False,
    no_input: NoInput = False,
    detach: Detach = False,
) -> int:
    """Begin another run with the files of a lap, and with what its run was made of.

    Every flag changes that: another agent, strategy, task, gate or limit. In place, the files of the lap are
    put into your directory, and what was there is kept; with --worktree your directory is not touched.

    Parameters
    ----------
    task
        Another task than that of the run; `-` reads it from stdin.
    """
    name, lap, second = laps(run)
    if second is not None:
        raise UserError(f"A run begins with one lap. Write it like {name}@{lap}.")
    folder, store = place.find(name), place.store()
    state = anyio.run(state_of, folder)
    number, snapshot = lap_number(state, lap or BEST), snapshot_of(state, lap or BEST)
    loaded = spec.load_over(spec_of(state), start_of(state), task)
    if loaded.spec.workspace["mode"] != WORKTREE:
        refuse_agents("fork --in-place", place.store().state_dir)
    steer = Steer(at=time.time(), by=me(), id=secrets.token_hex(8), note=note) if note else None

    async def begin() -> RunFolder:
        return await make_fork(
            state, folder, store, loaded, lap=number, snapshot=snapshot, note=steer, warn=say_note
        )

    shown = Shown(json=json, quiet=quiet, verbose=verbose, plain=plain, flags=place.flags)
    return drive_new(begin, place, shown, no_input=no_input, detach=detach)
