"""follow: the verb that watches a run while another process drives it."""

from __future__ import annotations

from typing import Annotated

import anyio
from cyclopts import Parameter

from untilgreen.core.exits import SIGINT, exit_code
from untilgreen.core.fold import apply
from untilgreen.engine import lock
from untilgreen.engine.store import RunFolder
from untilgreen.engine.told import told
from untilgreen.journal.file import FileJournal
from untilgreen.surfaces import result
from untilgreen.surfaces.cli.drive import Plain
from untilgreen.surfaces.cli.look import summarise
from untilgreen.surfaces.cli.options import HERE, Place, Run
from untilgreen.surfaces.cli.say import ascii_only, out_json, tell, version_line
from untilgreen.surfaces.views import choose

LOOK_SECONDS, LOOKS = 0.25, 8
"""How often, and how many times in a row, nobody drives before a run counts as left."""
Json = Annotated[bool, Parameter(name="--json", help="Print JSON lines on stdout.")]


def follow(run: Run = "@last", /, *, place: Place = HERE, json: Json = False, plain: Plain = False) -> int:
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
        anyio.run(_watch, folder, json, plain)
    except KeyboardInterrupt:
        tell(f"The run goes on. Watch it again: untilgreen follow {folder.id}{place.flags}")
        return SIGINT
    state, head = told(folder)
    if json:
        out_json(result.as_json(state, head))
    else:
        summarise(state, place.flags)
    return exit_code(state)


async def _watch(folder: RunFolder, json: bool, plain: bool) -> None:
    """Every event so far, and each new one for as long as somebody drives."""
    state, seen = None, 0
    with choose(json=json, quiet=False, verbose=False, plain=plain, ascii_only=ascii_only()) as view:
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
