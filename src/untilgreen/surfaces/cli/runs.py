"""list: the verb that looks at all runs, from what is remembered of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from cyclopts import Parameter

from untilgreen.engine.catalogue import Row
from untilgreen.engine.store import RunFolder
from untilgreen.errors import JournalError, RunGone
from untilgreen.surfaces.bars import spark
from untilgreen.surfaces.cli.options import HERE, Json, Place
from untilgreen.surfaces.cli.say import ascii_only, out, out_json, room, version_line
from untilgreen.surfaces.text import short


def list_runs(
    *,
    place: Place = HERE,
    all_: Annotated[bool, Parameter(name="--all", help="Runs of every directory.")] = False,
    limit: Annotated[int, Parameter(help="At most so many, the newest first; 30 if not said.")] = 30,
    json: Json = False,
) -> int:
    """List the runs of this directory, the newest first."""
    store = place.store()
    folders = store.runs(None if all_ else place.start)
    plain = ascii_only()
    if json:
        version_line()
    try:
        for folder in folders[:limit]:
            _show(folder, store.catalogue.row, json=json, plain=plain)
    finally:
        store.catalogue.save()
    if not folders and not json:
        where = "anywhere" if all_ else "here"
        out(f"No run was started {where} yet. Start one with: untilgreen run TASK --agent … --gate …")
    elif len(folders) > limit and not json:
        out(f"… and {len(folders) - limit} more; see them with --limit {len(folders)}")
    return 0


def _show(folder: RunFolder, look: Callable[[RunFolder], Row], *, json: bool, plain: bool) -> None:
    try:
        row = look(folder)
    except RunGone:
        return
    except JournalError as error:
        if json:
            _as_json(folder, None, "damaged", str(error))
        else:
            out(f"{folder.id}  damaged     {short(str(error), 80)}")
        return
    status = "running" if row.status == "open" and _driven(folder) else row.status
    if json:
        _as_json(folder, row, status)
        return
    bars = spark(row.scores, ascii_only=plain)
    word = "lap " if row.laps == 1 else "laps"
    begin = f"{folder.id}  {status:10}  {row.laps:3} {word}  {bars:12}  "
    out(begin + short(row.title, room(len(begin), 60)))


def _driven(folder: RunFolder) -> bool:
    from untilgreen.engine import lock

    return lock.owner(folder.lock) is not None


def _as_json(folder: RunFolder, row: Row | None, status: str, reason: str = "") -> None:
    from untilgreen.core.model import Outcome
    from untilgreen.surfaces.output import RunLine

    if row is None:
        out_json(RunLine(run=folder.id, status=status, reason=reason))
        return
    out_json(
        RunLine(
            run=folder.id,
            status=status,
            outcome=Outcome(row.outcome) if row.outcome else None,
            laps=row.laps,
            score=row.score,
            cost=row.cost,
            tokens=row.tokens,
            task=row.title,
            updated=row.updated,
        )
    )
