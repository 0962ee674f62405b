"""Whether a run's result still holds: its journal is intact, its gates give the same verdicts.

The gates run in a copy of the final files; the workspace itself is only read, for what git does not keep.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import anyio
from msgspec import Struct
from msgspec.structs import replace

from untilgreen.core.values.model import Verdict
from untilgreen.core.values.state import Lap, RunState
from untilgreen.engine.driving.signals import leave_on_a_signal
from untilgreen.engine.store import lock
from untilgreen.engine.store.folder_record import FolderRecord
from untilgreen.engine.wiring.clock import SystemClock
from untilgreen.engine.wiring.objects import gate_maker, integrity_of, objects_of
from untilgreen.engine.wiring.plugin_copies import copies_in
from untilgreen.engine.wiring.redaction import secrets_of, without_secrets
from untilgreen.engine.wiring.sandbox import enclosure
from untilgreen.engine.worktree.setup import worktree_of
from untilgreen.engine.worktree.snapshots import workspace_of
from untilgreen.errors import JournalDamaged, UserError
from untilgreen.gates.integrity.trial_rooms.rooms import Contents, Rooms
from untilgreen.gates.integrity.trial_rooms.trials import repeatable, rerun
from untilgreen.ports import CheckContext, Sandbox
from untilgreen.process.table import INSIDE
from untilgreen.workspace.export import Exporter
from untilgreen.workspace.git_workspace import GitWorkspace

Answer = Literal["confirmed", "differs", "unknown"]


class Compared(Struct, frozen=True, kw_only=True):
    """One gate: its verdict on the final tree in the journal, and its verdict now."""

    gate: str
    recorded: str
    now: str
    same: bool
    gone: tuple[str, ...] = ()
    """Findings in the journal that are no longer reported."""
    new: tuple[str, ...] = ()
    """Findings that are not in the journal."""
    verdict: Verdict


class Verified(Struct, frozen=True, kw_only=True):
    """The result of a verification."""

    run: str
    answer: Answer
    reason: str
    head: str = ""
    events: int = 0
    lap: int | None = None
    """The lap whose tree is the final one."""
    tree: str = ""
    gates: tuple[Compared, ...] = ()
    left_out: tuple[str, ...] = ()
    """Gates that ask people, models or other machines, and were not asked again."""
    signal: int = 0


async def verify(
    folder: FolderRecord, *, head: str = "", said: Callable[[Compared], None], signals: bool = False
) -> Verified:
    """Read the whole journal, then run the final gates once more; `said` gets each result."""
    try:
        state, found, count = _read(folder)
    except JournalDamaged as error:
        return Verified(run=folder.id, answer="differs", reason=str(error))
    base = Verified(run=folder.id, answer="differs", reason="", head=found, events=count)
    if head and not (len(head) >= 8 and found.startswith(head.lower())):
        return replace(
            base, reason=f"The journal's head is {found}, not {head}: this is a different journal."
        )
    lap = _final_lap(state)
    base = replace(base, lap=lap.number, tree=lap.snapshot or "")
    heard: list[int] = []
    rows: list[Compared] = []
    with lock.hold(folder.lock, run=folder.id, driver=lock.this_process(SystemClock().now())):
        async with anyio.create_task_group() as group:
            if signals:
                await group.start(leave_on_a_signal, group.cancel_scope, heard)
            await _look(state, lap, folder, rows, said)
            group.cancel_scope.cancel()
    asked = {row.gate for row in rows}
    left_out = tuple(gate.name for gate in state.plan.gates if gate.name not in asked)
    base = replace(base, gates=tuple(rows), left_out=left_out)
    if heard:
        return replace(base, answer="unknown", reason="It was interrupted.", signal=heard[0])
    return _judged(base)


def _read(folder: FolderRecord) -> tuple[RunState, str, int]:
    """Read the whole journal; a changed line does not match its hash."""
    loaded = folder.read()
    state, head = loaded.state, loaded.head
    lines = folder.journal.read_bytes().count(b"\n")
    return state, head, lines - 1  # the first line says what the file is


def _final_lap(state: RunState) -> Lap:
    """The lap that judged the final tree of the run."""
    if state.outcome is None:
        raise UserError(
            f"Run {state.run} is not over, so there is no result to verify. Watch it with "
            f"`untilgreen follow {state.run}`, or continue it with `untilgreen resume {state.run}`."
        )
    for lap in reversed(state.baseline_and_laps):
        if lap.snapshot is not None and lap.snapshot == state.final_snapshot and lap.verdicts:
            return lap
    raise UserError(
        f"No gate judged the final files of run {state.run} ({state.outcome}), so there is nothing "
        "to compare. Run the gates on the current files with `untilgreen check`."
    )


@dataclass(frozen=True, kw_only=True)
class _Again:
    """Runs the final gates again; its fields are the places and parts that they need."""

    state: RunState
    lap: Lap
    code: Mapping[str, Path]
    workspace: GitWorkspace
    scratch: Path
    tree: Path
    sandbox: Sandbox | None

    async def verdicts(self) -> AsyncGenerator[tuple[str, Verdict], None]:
        """Gate by gate in one copy, and then the integrity gate."""
        plan, kept, snapshot = self.state.plan, Exporter(self.workspace), self.lap.snapshot or ""
        objects, context = objects_of(plan, self.code), self._site()
        below = self.workspace.root.resolve().relative_to((await kept.top()).resolve()).as_posix()
        guards = {
            name: replace(guard, in_place=False)
            for name, guard in integrity_of(plan, objects, self.workspace, self.scratch).items()
        }
        rooms = next((guard.rooms() for guard in guards.values()), Rooms(trees=kept, scratch=self.scratch))
        async with rooms.open("final", Contents(snapshot=snapshot)) as room:
            for spec in repeatable(plan.gates):
                if self._spoke(spec.name):
                    yield (
                        spec.name,
                        (await rerun((spec,), gate_maker(objects), room, below, context))[spec.name],
                    )
        for name, guard in guards.items():
            if self._spoke(name):  # the room above was the clean one
                yield name, await replace(guard, clean_room=False).check(context)

    def _spoke(self, gate: str) -> bool:
        """Whether the journal has a verdict to compare with."""
        verdict = self.lap.verdicts.get(gate)
        return verdict is not None and verdict.status != "skip"

    def _site(self) -> CheckContext:
        return CheckContext(
            root=self.workspace.root,
            lap=self.lap.number,
            snapshot=self.lap.snapshot or "",
            base=self.state.snapshot_of(0) or "",
            task=self.state.plan.task,
            allowed=self.state.allowed,
            tree=self.tree,
            env={INSIDE: self.state.run},
            sandbox=self.sandbox,
            originals=self.code,
            baseline=self.state.baseline.verdicts if self.state.baseline is not None else {},
        )


async def _look(
    state: RunState, lap: Lap, folder: FolderRecord, rows: list[Compared], said: Callable[[Compared], None]
) -> None:
    workspace = await workspace_of(state, folder.scratch)
    worktree = worktree_of(state.plan, folder.scratch)
    there = worktree if worktree is not None and worktree.path.is_dir() else None
    inside = await enclosure(state.plan, workspace.root, folder.scratch.state_dir, there)
    again = _Again(
        state=state,
        lap=lap,
        code=copies_in(state.plan, folder.code),
        workspace=workspace,
        scratch=folder.path / "verify",
        tree=folder.scratch.tree("verify"),
        sandbox=inside.gates,
    )
    secrets = secrets_of(state.plan)
    async with aclosing(again.verdicts()) as verdicts:
        async for gate, verdict in verdicts:
            rows.append(_compared(gate, lap.verdicts[gate], without_secrets(verdict, secrets)))
            said(rows[-1])


def _compared(gate: str, recorded: Verdict, now: Verdict) -> Compared:
    before, after = recorded.failing(gate), now.failing(gate)
    same = recorded.status == now.status
    named = bool(recorded.findings and now.findings) and not recorded.more
    return Compared(
        gate=gate,
        recorded=recorded.status,
        now=now.status,
        same=same and (before == after or not named),
        gone=tuple(sorted(before - after)) if named else (),
        new=tuple(sorted(after - before)) if named else (),
        verdict=now,
    )


def _judged(base: Verified) -> Verified:
    differing = [row.gate for row in base.gates if not row.same]
    broken = [row.gate for row in base.gates if row.now == "error" and row.recorded != "error"]
    if broken:
        names = ", ".join(map(repr, broken))
        return replace(base, answer="unknown", reason=f"{names} could not run in a copy of the final files.")
    if differing:
        names = ", ".join(map(repr, differing))
        return replace(base, answer="differs", reason=f"{names} gave a different verdict from the journal's.")
    if not base.gates:
        return replace(base, answer="unknown", reason="None of this run's gates can be run again here.")
    return replace(
        base, answer="confirmed", reason="The journal is intact, and the gates give the same verdicts again."
    )
