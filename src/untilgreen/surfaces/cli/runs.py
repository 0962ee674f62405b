"""list, show and follow: the verbs that look at runs."""

from __future__ import annotations

from typing import Annotated

import anyio
from cyclopts import Parameter

from untilgreen.core.exits import SIGINT, exit_code
from untilgreen.core.fold import apply
from untilgreen.engine import lock
from untilgreen.engine.store import RunFolder
from untilgreen.errors import JournalError
from untilgreen.journal.file import FileJournal
from untilgreen.surfaces import result
from untilgreen.surfaces.cli.look import read, summarise
from untilgreen.surfaces.cli.options import HERE, Place
from untilgreen.surfaces.cli.say import ascii_only, out, out_json, tell, version_line
from untilgreen.surfaces.picture import spark
from untilgreen.surfaces.render import agent_words
from untilgreen.surfaces.text import inert, short
from untilgreen.surfaces.views import choose

LOOK_SECONDS, LOOKS = 0.25, 8
"""How often, and how many times in a row, nobody drives before a run counts as left."""
Json = Annotated[bool, Parameter(name="--json", help="Print JSON lines on stdout.")]


def list_runs(
    *,
    place: Place = HERE,
    all_: Annotated[bool, Parameter(name="--all", help="Runs of every directory.")] = False,
    limit: Annotated[int, Parameter(help="At most so many, the newest first; 30 if not said.")] = 30,
    json: Json = False,
) -> int:
    """List the runs of this directory, the newest first."""
    folders = place.store().runs(None if all_ else place.start)
    if json:
        version_line()
    for folder in folders[:limit]:
        _row(folder, json=json)
    if not folders and not json:
        where = "anywhere" if all_ else "here"
        out(f"No run was started {where} yet. Start one with: untilgreen run TASK --agent … --gate …")
    elif len(folders) > limit and not json:
        out(f"… and {len(folders) - limit} more; see them with --limit {len(folders)}")
    return 0


def show(run: str = "@last", /, *, place: Place = HERE, json: Json = False) -> int:
    """Show one run: outcome, laps and gates.

    Parameters
    ----------
    run
        Its id, the beginning of it, or @last.
    """
    folder = place.find(run)
    state, head = read(folder)
    if json:
        version_line()
        out_json(result.as_json(state, head))
        return 0
    out(f"{state.run}  {short(state.plan.title, 100)}")
    strategy = inert(state.plan.strategy.name)
    out(f"agent {agent_words(state.agent)} · strategy {strategy} · {inert(str(folder.path))}")
    out()
    summarise(state, place.flags)
    out(f"journal head {head}")
    return 0


def follow(run: str = "@last", /, *, place: Place = HERE, json: Json = False) -> int:
    """Watch a run that another process drives, until it is left; Ctrl-C stops watching, not the run.

    Parameters
    ----------
    run
        Its id, the beginning of it, or @last.
    """
    folder = place.find(run)
    if json:
        version_line()
    try:
        anyio.run(_watch, folder, json)
    except KeyboardInterrupt:
        tell(f"The run goes on. Watch it again: untilgreen follow {folder.id}{place.flags}")
        return SIGINT
    state, head = read(folder)
    if json:
        out_json(result.as_json(state, head))
    else:
        summarise(state, place.flags)
    return exit_code(state)


async def _watch(folder: RunFolder, json: bool) -> None:
    """Every event so far, and each new one for as long as somebody drives."""
    state, seen = None, 0
    with choose(json=json, quiet=False, verbose=False, ascii_only=ascii_only()) as view:
        async with anyio.create_task_group() as group:
            group.start_soon(_until_it_is_left, folder, group.cancel_scope)
            async for event in FileJournal(folder.journal).follow():
                state, seen = apply(state, event), seen + 1
                view.on_event(event, state)
            group.cancel_scope.cancel()
        for event in (await FileJournal(folder.journal).events())[seen:]:
            state = apply(state, event)
            view.on_event(event, state)


async def _until_it_is_left(folder: RunFolder, watching: anyio.CancelScope) -> None:
    """A run has a driver from a moment after its start on, and between two drivers for a moment none."""
    looks = 0
    while looks < LOOKS:
        looks = 0 if lock.owner(folder.lock) else looks + 1
        await anyio.sleep(LOOK_SECONDS)
    watching.cancel()


def _row(folder: RunFolder, *, json: bool) -> None:
    try:
        state, _ = read(folder)
    except JournalError as error:
        if json:
            out_json({"type": "run", "run": folder.id, "status": "damaged", "reason": str(error)})
        else:
            out(f"{folder.id}  damaged     {short(str(error), 80)}")
        return
    status = result.status(state)
    if status == "open" and lock.owner(folder.lock) is not None:
        status = "running"
    laps = len(state.iterations)
    if json:
        out_json(
            {
                "type": "run",
                "run": state.run,
                "status": status,
                "outcome": state.outcome,
                "laps": laps,
                "score": state.best.score if state.best else 0.0,
                "cost": state.spent.cost,
                "tokens": state.spent.tokens,
                "task": state.plan.title,
                "updated": state.now,
            }
        )
        return
    bars = spark([lap.score for lap in state.iterations[-12:]], ascii_only=ascii_only())
    word = "lap " if laps == 1 else "laps"
    out(f"{state.run}  {status:10}  {laps:3} {word}  {bars:12}  {short(state.plan.title, 60)}")
