"""diff and restore: look at the snapshots of a run, and bring them back."""

from __future__ import annotations

import sys
from typing import Annotated

import anyio
from cyclopts import Parameter

from untilgreen.core.values.state import RunState
from untilgreen.engine.store.reading import state_of
from untilgreen.engine.worktree.snapshots import kept_tree, restore_tree, workspace_of
from untilgreen.errors import UserError
from untilgreen.surfaces.cli import completers
from untilgreen.surfaces.cli.caller import refuse_agents
from untilgreen.surfaces.cli.lap_names import BEST, lap_number, laps, snapshot_of
from untilgreen.surfaces.cli.options import HERE, FleetPlace
from untilgreen.surfaces.text import streams
from untilgreen.surfaces.text.diffs import colored, in_color, stat
from untilgreen.surfaces.text.paging import paged
from untilgreen.surfaces.text.printing import out, tell
from untilgreen.surfaces.text.safe_text import inert_lines
from untilgreen.surfaces.text.summary import restored_lines


def diff(
    run: Annotated[
        str,
        Parameter(completer=completers.runs, help="A run, RUN@LAP for one lap, or RUN@A..B between two."),
    ] = "@last",
    /,
    *,
    stat_: Annotated[bool, Parameter(name="--stat", help="Show files and numbers of lines only.")] = False,
    place: FleetPlace = HERE,
) -> int:
    """Show what a run, or one of its laps, changed."""
    name, first, second = laps(run)
    folder = place.find(name, snapshots=True)
    state = folder.read().state

    async def look() -> bytes:
        before, after = _ends(state, first, second)
        return await (await workspace_of(state, folder.scratch)).patch(before, after)

    patch = anyio.run(look)
    if not patch:
        tell(_nothing(state, first, place.flags))
    elif stat_:
        for line in stat(patch.decode(errors="backslashreplace")):
            out(line)
    elif colored():
        paged(in_color(patch.decode(errors="backslashreplace")))
    elif sys.stdout.isatty():
        paged(inert_lines(patch.decode(errors="backslashreplace")))
    else:
        streams.write_bytes(sys.stdout, patch)
    return 0


def _nothing(state: RunState, lap: str | None, flags: str) -> str:
    """Why a diff is empty; the laps of a run whose files were put back can still be shown."""
    if lap is not None:
        return "No files differ."
    if not any(each.moved for each in state.laps):
        return f"Run {state.run} changed no files."
    kept = next(each.number for each in reversed(state.laps) if each.moved)
    return (
        f"The files are as they were before run {state.run}: its changes were undone. "
        f"See a lap with: untilgreen diff {state.run}@{kept}{flags}"
    )


def restore(
    run: Annotated[str, Parameter(completer=completers.runs, help="RUN@LAP, such as @last@3, or RUN@best.")],
    /,
    *,
    snapshot: Annotated[
        str | None, Parameter(metavar="ID", help="A snapshot id that an earlier restore printed.")
    ] = None,
    place: FleetPlace = HERE,
) -> int:
    """Restore the files of a lap.

    What is there now is saved first; the command that brings it back is printed.
    """
    refuse_agents("restore", place.store().state_dir)
    name, lap, second = laps(run)
    if second is not None or (snapshot is not None and lap is not None):
        raise UserError(f"Only one lap can be restored. Name one: {name}@{lap}.")
    folder = place.find(name, snapshots=True)

    async def bring_back() -> list[str]:
        state = await state_of(folder)
        if snapshot is None and lap is None:
            raise UserError(f"Which lap? Write it like {state.run}@3 or {state.run}@best.")
        if snapshot is None:
            target, what = snapshot_of(state, lap or BEST), f"lap {lap_number(state, lap or BEST)}"
        else:
            target = await kept_tree(state, folder.scratch, snapshot)
            what = f"snapshot {target[:12]}"
        done = await restore_tree(state, folder.scratch, target)
        return [
            f"Restored the files of {what}.",
            *restored_lines(folder.id, done.before, done.kept, place.flags),
        ]

    for line in anyio.run(bring_back):
        out(line)
    return 0


def _ends(state: RunState, first: str | None, second: str | None) -> tuple[str, str]:
    if first is None:
        last = state.final_snapshot or state.tree
        start = state.snapshot_of(0)
        if start is None or last is None:
            raise UserError(f"Run {state.run} has no snapshot yet.")
        return start, last
    if second is not None:
        return snapshot_of(state, first), snapshot_of(state, second)
    number = lap_number(state, first)
    before = state.laps[number - 1].base if 0 < number <= len(state.laps) else None
    return before or snapshot_of(state, "0"), snapshot_of(state, first)
