"""The operations that bring the files of a run to its workspace; within the server's roots only."""

from __future__ import annotations

from untilgreen.engine.operations.apply import apply_result, take_back
from untilgreen.engine.operations.fork import start_of
from untilgreen.engine.worktree.snapshots import restore_tree
from untilgreen.surfaces.json.lines import ConflictShown
from untilgreen.surfaces.web.api.requests import ApplyRun, RestoreLap
from untilgreen.surfaces.web.api.values import Applied, Restored
from untilgreen.surfaces.web.guard import Refusal
from untilgreen.surfaces.web.handlers.call import Call
from untilgreen.surfaces.web.handlers.start import workspace
from untilgreen.surfaces.web.known_runs import KnownRun
from untilgreen.workspace.git.command import path_as_text


async def restore(call: Call) -> Restored:
    """Bring back the files of a lap; what was there is saved first."""
    body: RestoreLap = call.body
    run = await _run(call)
    done = await restore_tree(run.state, run.here("apply").scratch, _snapshot(run, body.lap))
    return Restored(run=run.id, lap=body.lap, before=done.before, kept=tuple(done.kept))


async def apply(call: Call) -> Applied:
    """Merge the result of a run into the user's files; conflicts are shown, and then nothing is written."""
    body: ApplyRun = call.body
    run = await _run(call)
    store = call.service.runs.store
    if body.undo:
        back = await take_back(run.state, run.here("apply"), store)
        return Applied(run=run.id, written=True, kept=tuple(back.kept))
    snapshot = run.state.final_snapshot if body.lap is None else _snapshot(run, body.lap)
    if snapshot is None:
        raise Refusal(409, "Refused", f"Run {run.id} has no result yet. Name the lap you want.")
    done = await apply_result(
        run.state, run.here("apply"), store, snapshot, markers=body.markers, dry_run=body.dry_run
    )
    conflicts = tuple(
        ConflictShown(
            path=path_as_text(each.path), why=each.why, text=each.text.decode(errors="backslashreplace")
        )
        for each in done.conflicts
    )
    return Applied(
        run=run.id, written=done.written, changes=tuple(done.changes), conflicts=conflicts, kept=done.kept
    )


async def _run(call: Call) -> KnownRun:
    run = await call.run()
    run.here("apply")
    workspace(call, str(start_of(run.state)))
    return run


def _snapshot(run: KnownRun, lap: int) -> str:
    found = run.state.snapshot_of(lap) if 0 <= lap <= len(run.state.laps) else None
    if found is None:
        raise Refusal(404, "Not found", f"Run {run.id} has no lap {lap}.")
    return found
