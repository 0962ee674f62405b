"""prune: remove old runs."""

from __future__ import annotations

import time
from typing import Annotated

import anyio
from cyclopts import Parameter

from untilgreen.core.exit_codes import OK
from untilgreen.core.values.units import duration
from untilgreen.engine.operations.prune import Pruned, Rules
from untilgreen.engine.operations.prune import prune as prune_one
from untilgreen.engine.store.runs import Store
from untilgreen.errors import UserError
from untilgreen.surfaces.cli.caller import refuse_agents
from untilgreen.surfaces.cli.options import HERE, FleetPlace, Json, Run
from untilgreen.surfaces.json.lines import PrunedLine
from untilgreen.surfaces.text.printing import out, out_json, version_line
from untilgreen.surfaces.text.safe_text import inert

KEEP = "30d"


def prune(
    *runs: Run,
    keep: Annotated[
        str, Parameter(metavar="TIME", help=f"Keep runs that ended within this time (default: {KEEP}).")
    ] = KEEP,
    all_: Annotated[bool, Parameter(name="--all", help="Include runs of every directory.")] = False,
    dry_run: Annotated[bool, Parameter(help="Show what would be removed; remove nothing.")] = False,
    place: FleetPlace = HERE,
    json: Json = False,
) -> int:
    """Remove old runs, with their snapshots, worktrees and branches.

    Younger runs that are over keep their first, best and last snapshot; the newest run of a directory keeps
    every lap. Runs that are not over are never touched.

    Parameters
    ----------
    runs
        Only these, of any age: ids, or their beginnings.
    """
    refuse_agents("prune", place.store().state_dir)
    store, start = place.store(), place.start
    rules = Rules(keep=_seconds(keep), now=time.time(), named=bool(runs), dry_run=dry_run)
    if place.fleet:
        raise UserError(
            "`untilgreen prune` removes runs of this machine. A fleet's runs are in its database, "
            "and stay there."
        )
    folders = [store.find(run, start) for run in runs]
    if not runs:
        folders = [store.record(run.id) for run in store.runs(None if all_ else start)]
    newest = _newest(store)

    async def go() -> list[Pruned]:
        if not dry_run:
            store.sweep()
        return [await prune_one(folder, store, rules, newest=folder.id in newest) for folder in folders]

    done = anyio.run(go)
    refused = [each for each in done if runs and each.action == "kept"]
    if refused:
        raise UserError("; ".join(f"Run {each.run} {each.why}" for each in refused) + ".")
    if json:
        version_line()
    for each in done:
        if json:
            out_json(PrunedLine(run=each.run, action=each.action, why=each.why, left=each.left))
        elif each.action != "kept" or each.shown:
            out(_line(each, dry_run=dry_run))
    if not json and not any(each.action == "removed" for each in done):
        out("No run is old enough to be removed.")
    return OK


def _line(each: Pruned, *, dry_run: bool) -> str:
    word = f"would be {each.action}" if dry_run and each.action != "kept" else each.action
    left = f"; left: {', '.join(map(inert, each.left))}" if each.left else ""
    return f"{each.run}  {word}: {inert(each.why)}{left}"


def _newest(store: Store) -> set[str]:
    """The newest run of each directory; the store lists the newest first."""
    first: dict[str, str] = {}
    for folder in store.runs():
        first.setdefault(store.catalog.meta(folder).workspace, folder.id)
    return set(first.values())


def _seconds(keep: str) -> float:
    if keep.strip().lower().rstrip("smhd") == "0":
        return 0.0
    return duration(keep, "--keep")
