"""diff and restore: the verbs that look at the files a run kept, and bring them back."""

from __future__ import annotations

import re
import sys
from typing import Annotated

import anyio
from cyclopts import Parameter

from untilgreen.core.state import RunState
from untilgreen.engine.drive import state_of
from untilgreen.engine.trees import kept_tree, restore_tree, workspace_of
from untilgreen.errors import UserError
from untilgreen.surfaces import streams
from untilgreen.surfaces.cli import completing
from untilgreen.surfaces.cli.look import refuse_agents
from untilgreen.surfaces.cli.options import HERE, Place
from untilgreen.surfaces.cli.say import out
from untilgreen.surfaces.result import restored_lines
from untilgreen.surfaces.text import inert_lines

BEST = "best"
_LAP = rf"\d{{1,6}}|{BEST}"


def diff(
    run: Annotated[
        str,
        Parameter(
            completer=completing.runs, help="A run, RUN@LAP for one lap, or RUN@A..B for the way between two."
        ),
    ] = "@last",
    /,
    *,
    place: Place = HERE,
) -> int:
    """Show what a run, or some of its laps, changed, as a unified diff."""
    name, first, second = laps(run)
    folder = place.find(name)

    async def look() -> bytes:
        state = await state_of(folder)
        before, after = _ends(state, first, second)
        return await (await workspace_of(state, folder)).patch(before, after)

    patch = anyio.run(look)
    if sys.stdout.isatty():
        streams.write(sys.stdout, inert_lines(patch.decode(errors="backslashreplace")))
    else:
        streams.write_bytes(sys.stdout, patch)
    return 0


def restore(
    run: Annotated[
        str, Parameter(completer=completing.runs, help="RUN@LAP, for example @last@3, or RUN@best.")
    ],
    /,
    *,
    snapshot: Annotated[
        str | None, Parameter(help="A snapshot by id, as an earlier restore printed it.")
    ] = None,
    place: Place = HERE,
) -> int:
    """Put the files of a lap back into the directory; what is there now is kept first."""
    refuse_agents("restore", place.store().state_dir)
    name, lap, second = laps(run)
    if second is not None or (snapshot is not None and lap is not None):
        raise UserError(f"Only one state of the files can be brought back. Name one: {name}@{lap}.")
    folder = place.find(name)
    store = place.store()

    async def bring_back() -> list[str]:
        state = await state_of(folder)
        if snapshot is None and lap is None:
            raise UserError(f"Which lap? Write it like {state.run}@3 or {state.run}@best.")
        if snapshot is None:
            target, what = snapshot_of(state, lap or BEST), f"lap {lap_number(state, lap or BEST)}"
        else:
            target = await kept_tree(state, folder, snapshot)
            what = f"snapshot {target[:12]}"
        done = await restore_tree(state, folder, store, target)
        return [
            f"The files are those of {what}.",
            *restored_lines(folder.id, done.before, done.kept, place.flags),
        ]

    for line in anyio.run(bring_back):
        out(line)
    return 0


def laps(text: str) -> tuple[str, str | None, str | None]:
    """`RUN`, `RUN@3`, `RUN@1..3`; `@last` may stand for the run."""
    head, at, rest = ("@last", "@", text[len("@last@") :]) if text.startswith("@last@") else (text, "", "")
    if not at and text != "@last":
        head, at, rest = text.partition("@")
    match = re.fullmatch(rf"({_LAP})(?:\.\.({_LAP}))?", rest) if at else None
    if at and match is None:
        raise UserError(f"{text!r} names no lap. Write it like RUN@3, RUN@best or RUN@1..3.")
    return head or "@last", match[1] if match else None, match[2] if match else None


def _ends(state: RunState, first: str | None, second: str | None) -> tuple[str, str]:
    if first is None:
        last = state.final_snapshot or state.tree
        start = state.snapshot_of(0)
        if start is None or last is None:
            raise UserError(f"Run {state.run} has kept no files yet.")
        return start, last
    if second is not None:
        return snapshot_of(state, first), snapshot_of(state, second)
    number = lap_number(state, first)
    before = state.iterations[number - 1].base if 0 < number <= len(state.iterations) else None
    return before or snapshot_of(state, "0"), snapshot_of(state, first)


def lap_number(state: RunState, lap: str) -> int:
    """The number of a lap that may be called `best`."""
    if lap == BEST:
        return state.best.lap if state.best else 0
    return int(lap)


def snapshot_of(state: RunState, lap: str) -> str:
    """What a lap left behind, by its number or `best`."""
    found = state.snapshot_of(lap_number(state, lap))
    if found is None:
        raise UserError(f"Run {state.run} has no lap {lap}; it has 0 to {len(state.iterations)}.")
    return found
