"""list and show: the verbs that look at runs."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from untilgreen.engine import lock
from untilgreen.engine.store import RunFolder
from untilgreen.engine.told import told
from untilgreen.errors import JournalError
from untilgreen.surfaces import result
from untilgreen.surfaces.cli.look import summarise
from untilgreen.surfaces.cli.options import HERE, Place, Run
from untilgreen.surfaces.cli.say import ascii_only, out, out_json, version_line
from untilgreen.surfaces.picture import spark
from untilgreen.surfaces.render import agent_words
from untilgreen.surfaces.text import inert, short

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


def show(run: Run = "@last", /, *, place: Place = HERE, json: Json = False) -> int:
    """Show one run: outcome, laps and gates.

    Parameters
    ----------
    run
        Its id, the beginning of it, or @last.
    """
    folder = place.find(run)
    state, head = told(folder)
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


def _row(folder: RunFolder, *, json: bool) -> None:
    from untilgreen.surfaces.output import RunLine

    try:
        state, _ = told(folder)
    except JournalError as error:
        if json:
            out_json(RunLine(run=folder.id, status="damaged", reason=str(error)))
        else:
            out(f"{folder.id}  damaged     {short(str(error), 80)}")
        return
    status = result.status(state)
    if status == "open" and lock.owner(folder.lock) is not None:
        status = "running"
    laps = len(state.iterations)
    if json:
        out_json(
            RunLine(
                run=state.run,
                status=status,
                outcome=state.outcome,
                laps=laps,
                score=state.best.score if state.best else 0.0,
                cost=state.spent.cost,
                tokens=state.spent.tokens,
                task=state.plan.title,
                updated=state.now,
            )
        )
        return
    bars = spark([lap.score for lap in state.iterations[-12:]], ascii_only=ascii_only())
    word = "lap " if laps == 1 else "laps"
    out(f"{state.run}  {status:10}  {laps:3} {word}  {bars:12}  {short(state.plan.title, 60)}")
