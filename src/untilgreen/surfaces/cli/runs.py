"""list, show and follow: the verbs that look at runs."""

from __future__ import annotations

import shutil
from typing import Annotated

import anyio
from cyclopts import Parameter

from untilgreen.core.exits import exit_code
from untilgreen.core.fold import apply
from untilgreen.core.state import RunState
from untilgreen.engine import lock
from untilgreen.engine.drive import state_of
from untilgreen.engine.store import RunFolder
from untilgreen.errors import JournalError
from untilgreen.journal.file import FileJournal
from untilgreen.surfaces import result
from untilgreen.surfaces.cli.options import HERE, Place
from untilgreen.surfaces.cli.say import ascii_only, out, out_json, version_line
from untilgreen.surfaces.picture import spark
from untilgreen.surfaces.render import agent_words
from untilgreen.surfaces.text import short

Json = Annotated[bool, Parameter(name="--json", help="Print JSON lines on stdout.")]


def list_runs(
    *,
    place: Place = HERE,
    all_: Annotated[bool, Parameter(name="--all", help="Runs of every directory.")] = False,
    limit: Annotated[int, Parameter(help="At most so many, the newest first.")] = 30,
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
    state, head = _read(folder)
    if json:
        version_line()
        out_json(result.as_json(state, head))
        return 0
    out(f"{state.run}  {short(state.plan.title, 100)}")
    out(f"agent {agent_words(state.agent)} · strategy {state.plan.strategy.name} · {folder.path}")
    out()
    for line in result.summary(state, width=shutil.get_terminal_size().columns, ascii_only=ascii_only()):
        out(line)
    out(f"journal head {head}")
    return 0


def follow(run: str = "@last", /, *, place: Place = HERE, json: Json = False) -> int:
    """Watch a run that another process drives, until it ends; Ctrl-C stops watching, not the run.

    Parameters
    ----------
    run
        Its id, the beginning of it, or @last.
    """
    from untilgreen.surfaces.views import choose

    folder = place.find(run)
    if json:
        version_line()

    async def watch() -> RunState | None:
        state: RunState | None = None
        with choose(json=json, quiet=False, verbose=False, ascii_only=ascii_only()) as view:
            async for event in FileJournal(folder.journal).follow():
                state = apply(state, event)
                view.on_event(event, state)
        return state

    state = anyio.run(watch)
    if state is None:
        return 0
    if not json:
        for line in result.summary(state, width=shutil.get_terminal_size().columns, ascii_only=ascii_only()):
            out(line)
    return exit_code(state)


def _row(folder: RunFolder, *, json: bool) -> None:
    try:
        state, _ = _read(folder)
    except JournalError as error:
        if json:
            out_json({"type": "run", "run": folder.id, "status": "damaged", "reason": str(error)})
        else:
            out(f"{folder.id}  damaged     {short(str(error), 80)}")
        return
    driven = lock.owner(folder.lock) is not None
    status = "running" if driven and state.outcome is None else result.status(state)
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
    out(f"{state.run}  {status:10}  {laps:3} laps  {bars:12}  {short(state.plan.title, 60)}")


def _read(folder: RunFolder) -> tuple[RunState, str]:
    async def read() -> tuple[RunState, str]:
        journal = FileJournal(folder.journal)
        return await state_of(folder), journal.head

    return anyio.run(read)
