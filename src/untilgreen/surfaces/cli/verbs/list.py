"""list: all runs, from the catalog."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Annotated

from cyclopts import Parameter

from untilgreen.core.values.model import Outcome
from untilgreen.core.values.run_row import RunRow
from untilgreen.engine.store.catalog import status_now
from untilgreen.engine.store.run_folder import RunFolder
from untilgreen.errors import JournalError, RunGone
from untilgreen.surfaces.cli.options import HERE, Json, MostRuns, Place, fleet_is_set
from untilgreen.surfaces.json.lines import RunLine
from untilgreen.surfaces.text.event_lines import agent_words
from untilgreen.surfaces.text.printing import columns_left, out, out_json, version_line
from untilgreen.surfaces.text.safe_text import padded, short

AGENT = 8
HEADER = "run       started      age outcome   laps time   cost agent    task"


def list_runs(
    *,
    place: Place = HERE,
    all_: Annotated[bool, Parameter(name="--all", help="Include runs of every directory.")] = False,
    limit: MostRuns = 30,
    json: Json = False,
) -> int:
    """List the runs of this directory, newest first."""
    if place.fleet:
        from untilgreen.surfaces.cli.fleet_runs import list_fleet

        return list_fleet(limit, json=json)
    store = place.store()
    folders = store.runs(None if all_ else place.start)
    if json:
        version_line()
    elif folders:
        out(HEADER)
    try:
        for folder in folders[:limit]:
            _show(folder, store.catalog.row, json=json)
    finally:
        store.catalog.save()
    if not folders and not json:
        where = "anywhere" if all_ else "here"
        out(f"There are no runs {where} yet. Start one with: untilgreen run TASK --agent … --gate …")
    elif len(folders) > limit and not json:
        out(f"… and {len(folders) - limit} more; see them with --limit {len(folders)}")
    if place.fleet is None and fleet_is_set() and not json:
        out("The fleet's runs: untilgreen list --fleet")
    return 0


def _show(folder: RunFolder, look: Callable[[RunFolder], RunRow], *, json: bool) -> None:
    try:
        row = look(folder)
    except RunGone:
        return
    except JournalError as error:
        if json:
            out_json(RunLine(run=folder.id, status="damaged", reason=str(error)))
        else:
            out(f"{folder.id:9} damaged: {short(str(error), columns_left(19, 80))}")
        return
    show_row(folder.id, row, status_now(folder, row), json=json)


def show_row(run: str, row: RunRow, status: str, *, json: bool) -> None:
    """One run as a line, for people or for programs."""
    if json:
        out_json(_as_line(run, row, status))
        return
    started = row.started or row.updated
    cells = (
        f"{run:9}",
        time.strftime("%m-%d %H:%M", time.localtime(started)),
        f"{_brief(time.time() - started):>4}",
        f"{status:9}",
        f"{row.laps:4}",
        f"{_brief(row.elapsed):>4}",
        f"{f'${row.cost:.2f}' if row.cost else '-':>6}",
        padded(short(agent_words(row.agent), AGENT), AGENT),
    )
    begin = " ".join(cells) + " "
    out(begin + short(row.title, columns_left(len(begin), 60)))


def _brief(seconds: float) -> str:
    """A time in one unit, short enough for a list."""
    for size, unit in ((86_400, "d"), (3600, "h"), (60, "m")):
        if seconds >= size:
            return f"{seconds / size:.0f}{unit}"
    return f"{max(0.0, seconds):.0f}s"


def _as_line(run: str, row: RunRow, status: str) -> RunLine:
    return RunLine(
        run=run,
        status=status,
        outcome=Outcome(row.outcome) if row.outcome else None,
        laps=row.laps,
        score=row.score,
        cost=row.cost,
        tokens=row.tokens,
        task=row.title,
        agent=row.agent,
        started=row.started,
        updated=row.updated,
        elapsed=row.elapsed,
    )
