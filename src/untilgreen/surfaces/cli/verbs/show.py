"""show and log: a run, one of its laps, or all of them in full."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import anyio
from cyclopts import Parameter

from untilgreen.core.values.state import Lap, RunState
from untilgreen.engine.store.catalog import is_driven
from untilgreen.engine.store.folder_record import FolderRecord
from untilgreen.engine.wiring.redaction import secrets_of
from untilgreen.errors import UntilgreenError, UserError
from untilgreen.ports import ShownActivity
from untilgreen.surfaces.cli import completers
from untilgreen.surfaces.cli.lap_names import lap_number, laps
from untilgreen.surfaces.cli.options import HERE, FleetPlace, Json, Place
from untilgreen.surfaces.json.lap import lap_view
from untilgreen.surfaces.json.lines import LapLine
from untilgreen.surfaces.text import streams, summary
from untilgreen.surfaces.text.diffs import colored
from untilgreen.surfaces.text.event_lines import agent_words
from untilgreen.surfaces.text.lap_text import LapRecord, lap_text
from untilgreen.surfaces.text.paging import paged
from untilgreen.surfaces.text.printing import ascii_only, columns_left, out, out_json, summarize, version_line
from untilgreen.surfaces.text.safe_text import inert, short

RunOrLap = Annotated[
    str, Parameter(completer=completers.runs, help="A run, or RUN@LAP such as @last@3 or @last@best.")
]


def show(run: RunOrLap = "@last", /, *, place: Place = HERE, json: Json = False) -> int:
    """Show a run, or one of its laps in full.

    For a lap, it shows what the agent was told and said, what it changed, what the gates printed and found,
    and the reason for the decision.
    """
    name, lap, second = laps(run)
    if second is not None:
        raise UserError(f"One lap can be shown. Name one: {name}@{lap}, or all with: untilgreen log {name}")
    folder = place.find(name)
    loaded = folder.read()
    state, head, driven = loaded.state, loaded.head, is_driven(folder)
    if json:
        version_line()
        out_json(
            summary.as_json(state, head, driven=driven)
            if lap is None
            else LapLine(run=state.run, lap=lap_view(_lap(state, lap)))
        )
        return 0
    if lap is not None:
        paged(anyio.run(_text, folder, state, _lap(state, lap)))
        return 0
    out(f"{state.run}  {short(state.plan.title, columns_left(len(state.run) + 2, 100))}")
    strategy = inert(state.plan.strategy.name)
    out(f"agent {agent_words(state.agent)} · strategy {strategy} · {inert(str(folder.path))}")
    out()
    summarize(state, place.flags, seen=True, driven=driven)
    if folder.in_fleet and state.outcome is None and not driven:
        _show_failure(folder, state)
    out(f"journal head {head}")
    return 0


def _show_failure(folder: FolderRecord, state: RunState) -> None:
    """Print why a worker of the fleet could not drive the run, if it will be tried again."""
    last = anyio.run(folder.shown)
    if last is not None and last.activity.kind == "retry" and last.at >= state.now:
        out(inert(last.activity.text))


def log(
    run: Annotated[
        str, Parameter(completer=completers.runs, help="A run id, a prefix of one, or @last.")
    ] = "@last",
    /,
    *,
    place: FleetPlace = HERE,
) -> int:
    """Print every lap of a run in full.

    For each lap: the brief, the answer, the changes, the gates and the decision.
    """
    folder = place.find(run)
    state = folder.read().state

    async def stream() -> None:
        for lap in state.baseline_and_laps:
            streams.write(sys.stdout, await _text(folder, state, lap))

    anyio.run(stream)
    if not state.baseline_and_laps:
        out("No lap has finished yet.")
    return 0


def _lap(state: RunState, lap: str) -> Lap:
    number = lap_number(state, lap)
    found = [each for each in state.baseline_and_laps if each.number == number]
    if not found:
        raise UserError(f"Run {state.run} has no lap {lap}; it has 0 to {len(state.laps)}.")
    return found[0]


async def _text(folder: FolderRecord, state: RunState, lap: Lap) -> str:
    record = await _record(folder, state, lap)
    return lap_text(record, state, color=colored(), ascii_only=ascii_only())


async def _record(folder: FolderRecord, state: RunState, lap: Lap) -> LapRecord:
    """The lap with its texts; one that is gone is left out."""
    earlier = [each.failing for each in state.baseline_and_laps if each.number < lap.number]
    secrets = secrets_of(state.plan)
    outputs = {gate.name: _file(folder.scratch.output(lap.number, gate.name)) for gate in state.plan.gates}
    return LapRecord(
        lap=lap,
        before=earlier[-1] if earlier else frozenset(),
        earlier=frozenset().union(*earlier),
        brief=secrets.redact(_file(folder.scratch.brief(lap.number))),
        activity=[secrets.redact(each.activity.text) for each in await _activity(folder, lap)],
        diff=secrets.redact(await _diff(folder, state, lap)),
        outputs={name: secrets.redact(text) for name, text in outputs.items()},
    )


async def _activity(folder: FolderRecord, lap: Lap) -> list[ShownActivity]:
    found, offset = await folder.activity(lap.number)
    while part := (following := await folder.activity(lap.number, offset=offset))[0]:
        found += part
        offset = following[1]
    return found


async def _diff(folder: FolderRecord, state: RunState, lap: Lap) -> str:
    if not lap.number or lap.base is None or lap.snapshot is None or not lap.moved:
        return ""
    try:
        from untilgreen.engine.worktree.snapshots import workspace_of  # only a lap has a diff

        return await (await workspace_of(state, folder.scratch)).diff(lap.base, lap.snapshot)
    except UntilgreenError as error:
        return f"The changes can't be shown: {error}"


def _file(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
