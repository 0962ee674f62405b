"""apply: merge the result of a run into the user's files."""

from __future__ import annotations

from typing import Annotated

import anyio
from cyclopts import Parameter

from untilgreen.core.exit_codes import NOT_GREEN, OK
from untilgreen.core.values.state import RunState
from untilgreen.engine.operations.apply import Applied, apply_result, take_back
from untilgreen.engine.store.reading import state_of
from untilgreen.engine.wiring.workplace import branch_of
from untilgreen.errors import UserError
from untilgreen.surfaces.cli import completers
from untilgreen.surfaces.cli.caller import refuse_agents
from untilgreen.surfaces.cli.lap_names import laps, snapshot_of
from untilgreen.surfaces.cli.options import HERE, FleetPlace, Json
from untilgreen.surfaces.json.lines import AppliedLine, ConflictShown
from untilgreen.surfaces.text.printing import out, out_json, version_line
from untilgreen.surfaces.text.safe_text import inert, inert_lines
from untilgreen.workspace.git.command import path_as_text
from untilgreen.workspace.three_way_merge import Conflict

AROUND = 3
"""Lines of context around a conflict."""
MOST_SHOWN = 60
_SIGNS = {"added": "A", "modified": "M", "deleted": "D"}


def apply(
    run: Annotated[
        str,
        Parameter(
            completer=completers.runs,
            help="A run, or RUN@LAP for a lap other than its last.",
        ),
    ] = "@last",
    /,
    *,
    dry_run: Annotated[bool, Parameter(help="Show what would change; change nothing.")] = False,
    markers: Annotated[bool, Parameter(help="Write conflicts into the files, between markers.")] = False,
    undo: Annotated[bool, Parameter(help="Undo the last apply of this run.")] = False,
    place: FleetPlace = HERE,
    json: Json = False,
) -> int:
    """Merge the result of a run into your files.

    Your own changes are kept. Only files are written: your index, HEAD and branches stay as they are. If you
    and the run changed the same lines, the conflicts are shown, nothing is written, and the exit code is 1.
    """
    refuse_agents("apply", place.store().state_dir)
    name, lap, second = laps(run)
    if second is not None or (undo and (lap is not None or dry_run or markers)):
        raise UserError(
            f"{run!r} can't be applied that way. Write `untilgreen apply {name}`, or {name}@3 for a lap."
        )
    folder, store = place.find(name, snapshots=True), place.store()
    if undo:
        return _undo(folder.id, place)

    async def bring() -> tuple[str, Applied]:
        state = await state_of(folder)
        snapshot = snapshot_of(state, lap) if lap is not None else _result(state)
        done = await apply_result(state, folder, store, snapshot, markers=markers, dry_run=dry_run)
        return snapshot, done

    snapshot, done = anyio.run(bring)
    code = NOT_GREEN if done.conflicts else OK
    if json:
        version_line()
        out_json(_as_json(folder.id, snapshot, done, code))
        return code
    state = anyio.run(state_of, folder)
    for line in _lines(state, done, place.flags, dry_run=dry_run, markers=markers):
        out(line)
    return code


def _undo(run: str, place: FleetPlace) -> int:
    folder, store = place.find(run, snapshots=True), place.store()

    async def back() -> tuple[str, ...]:
        return (await take_back(await state_of(folder), folder, store)).kept

    kept = anyio.run(back)
    out(f"Your files are as they were before run {run} was applied.")
    if kept:
        out(f"Not touched, because they have changed since: {', '.join(map(inert, kept))}")
    return OK


def _result(state: RunState) -> str:
    if state.final_snapshot is None:
        over = "has no result" if state.outcome else "is not over"
        raise UserError(f"Run {state.run} {over}. Name the lap you want, such as {state.run}@1 or @best.")
    return state.final_snapshot


def _lines(state: RunState, done: Applied, flags: str, *, dry_run: bool, markers: bool) -> list[str]:
    lines = [f"{_SIGNS[each.status]} {inert(each.path)}" for each in done.changes if done.written or dry_run]
    for conflict in done.conflicts:
        lines += _conflict_lines(conflict)
    if not done.changes and not done.conflicts:
        return [*lines, f"Nothing to do: your files already have everything that run {state.run} changed."]
    if done.written:
        if done.kept:
            lines.append(
                f"Not touched, because another process is writing them: {', '.join(map(inert, done.kept))}"
            )
        lines.append(f"Undo with: untilgreen apply {state.run} --undo{flags}")
    elif done.conflicts:
        lines.append("Nothing was written.")
        if not markers:
            lines.append(f"To write both sides into the files: untilgreen apply {state.run} --markers{flags}")
        if (branch := branch_of(state)) is not None:
            lines.append(f"To merge it with git instead, once your changes are committed: git merge {branch}")
    return lines


def _conflict_lines(conflict: Conflict) -> list[str]:
    """The conflicts in a file, with a few lines around each."""
    lines = [f"conflict in {inert(path_as_text(conflict.path))}: {conflict.why}"]
    text = inert_lines(conflict.text.decode(errors="backslashreplace")).splitlines()
    wanted: set[int] = set()
    open_at: int | None = None
    for number, line in enumerate(text):
        if line.startswith("<<<<<<< "):
            open_at = number
        elif line.startswith(">>>>>>> ") and open_at is not None:
            wanted |= set(range(max(0, open_at - AROUND), number + AROUND + 1))
            open_at = None
    chosen = [number for number in sorted(wanted) if number < len(text)]
    lines += [f"  {number + 1:5} {text[number]}" for number in chosen[:MOST_SHOWN]]
    if len(chosen) > MOST_SHOWN:
        lines.append(f"        … and {len(chosen) - MOST_SHOWN} more lines")
    return lines


def _as_json(run: str, snapshot: str, done: Applied, code: int) -> AppliedLine:
    conflicts = tuple(
        ConflictShown(
            path=path_as_text(each.path), why=each.why, text=each.text.decode(errors="backslashreplace")
        )
        for each in done.conflicts
    )
    return AppliedLine(
        run=run,
        snapshot=snapshot,
        written=done.written,
        changes=tuple(done.changes),
        conflicts=conflicts,
        kept=done.kept,
        exit_code=code,
    )
