"""prune: the verb that removes old runs."""

from __future__ import annotations

import time
from typing import Annotated

import anyio
from cyclopts import Parameter

from untilgreen.core.exits import OK
from untilgreen.core.units import duration
from untilgreen.engine.pruning import Pruned, Rules
from untilgreen.engine.pruning import prune as prune_one
from untilgreen.engine.store import Store
from untilgreen.errors import UserError
from untilgreen.surfaces.cli.look import refuse_agents
from untilgreen.surfaces.cli.options import HERE, Json, Place, Run
from untilgreen.surfaces.cli.say import out, out_json, version_line
from untilgreen.surfaces.output import PrunedLine
from untilgreen.surfaces.text import inert

KEEP = "30d"


def prune(
    *runs: Run,
    keep: Annotated[
        str, Parameter(help=f"Runs that ended within this time stay, for example 12h; {KEEP} if not said.")
    ] = KEEP,
    all_: Annotated[bool, Parameter(name="--all", help="Runs of every directory.")] = False,
    dry_run: Annotated[bool, Parameter(help="Say what would go, and remove nothing.")] = False,
    place: Place = HERE,
    json: Json = False,
) -> int:
    """Remove old runs with everything that is kept of them: snapshots, worktree, branch and folder.

    Younger runs that are over keep their first, best and last files; the newest one of a directory keeps
    every lap. Runs that are not over are never touched.

    Parameters
    ----------
    runs
        Only these, whatever their age: ids, or beginnings of them.
    """
    refuse_agents("prune", place.store().state_dir)
    store, start = place.store(), place.start
    rules = Rules(keep=_seconds(keep), now=time.time(), named=bool(runs), dry_run=dry_run)
    folders = [place.find(run) for run in runs] or store.runs(None if all_ else start)
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
        elif each.action != "kept" or each.told:
            out(_line(each, dry_run=dry_run))
    if not json and not any(each.action == "removed" for each in done):
        out("No run is old enough to be removed.")
    return OK


def _line(each: Pruned, *, dry_run: bool) -> str:
    word = f"would be {each.action}" if dry_run and each.action != "kept" else each.action
    left = f"; left: {', '.join(map(inert, each.left))}" if each.left else ""
    return f"{each.run}  {word}: {inert(each.why)}{left}"


def _newest(store: Store) -> set[str]:
    """The newest run of each directory; they come the newest first."""
    first: dict[str, str] = {}
    for folder in store.runs():
        first.setdefault(store.catalogue.meta(folder).workspace, folder.id)
    return set(first.values())


def _seconds(keep: str) -> float:
    if keep.strip().lower().rstrip("smhd") == "0":
        return 0.0
    return duration(keep, "--keep")
