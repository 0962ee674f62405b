"""Whether a run's result still holds: its journal is whole, and its final gates say the same once more.

The gates run in a copy of the final tree; the workspace itself is only read, for what git does not keep.
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

from untilgreen.core.model import Verdict
from untilgreen.core.state import Iteration, RunState
from untilgreen.engine import lock, wiring
from untilgreen.engine.checking import leave_on_a_signal
from untilgreen.engine.clock import SystemClock
from untilgreen.engine.seat import INSIDE
from untilgreen.engine.store import RunFolder
from untilgreen.engine.told import told
from untilgreen.engine.trees import workspace_of
from untilgreen.engine.veil import secrets_of, without_secrets
from untilgreen.engine.walls import enclosure
from untilgreen.engine.worktrees import worktree_of
from untilgreen.errors import JournalDamaged, UserError
from untilgreen.gates.integrity.copies import Copies
from untilgreen.gates.integrity.rerun import repeated, rerun
from untilgreen.gates.integrity.tampering import Tampering
from untilgreen.ports import Site, Walls
from untilgreen.workspace.export import Exporter
from untilgreen.workspace.git import GitWorkspace

Answer = Literal["confirmed", "differs", "unknown"]


class Compared(Struct, frozen=True, kw_only=True):
    """One gate: what the journal says about the final tree, and what it says now."""

    gate: str
    recorded: str
    now: str
    same: bool
    gone: tuple[str, ...] = ()
    """Complaints in the journal that are not made any more."""
    new: tuple[str, ...] = ()
    """Complaints that are not in the journal."""
    verdict: Verdict


class Verified(Struct, frozen=True, kw_only=True):
    """What came of looking again."""

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
    folder: RunFolder, *, head: str = "", said: Callable[[Compared], None], signals: bool = False
) -> Verified:
    """Read the whole journal, then run the final gates once more; `said` hears each as it is there."""
    try:
        state, found, count = _read(folder)
    except JournalDamaged as error:
        return Verified(run=folder.id, answer="differs", reason=str(error))
    base = Verified(run=folder.id, answer="differs", reason="", head=found, events=count)
    if head and not (len(head) >= 8 and found.startswith(head.lower())):
        return replace(base, reason=f"The journal's head is {found}, not {head}: it is another journal.")
    lap = _final_lap(state)
    base = replace(base, lap=lap.number, tree=lap.snapshot or "")
    heard: list[int] = []
    rows: list[Compared] = []
    with lock.hold(folder.lock, run=folder.id, now=SystemClock().now()):
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


def _read(folder: RunFolder) -> tuple[RunState, str, int]:
    """The journal from its first byte to its last; a line that was changed does not fit its hash."""
    state, head = told(folder)
    lines = folder.journal.read_bytes().count(b"\n")
    return state, head, lines - 1  # the first line says what the file is


def _final_lap(state: RunState) -> Iteration:
    """The lap that judged the tree which the run left."""
    if state.outcome is None:
        raise UserError(
            f"Run {state.run} is not over, so that there is no result to verify. "
            f"Go on with `untilgreen resume {state.run}`."
        )
    laps = [*([state.baseline] if state.baseline else []), *state.iterations]
    for lap in reversed(laps):
        if lap.snapshot is not None and lap.snapshot == state.final_snapshot and lap.verdicts:
            return lap
    raise UserError(
        f"No gate has judged the tree that run {state.run} left ({state.outcome}), so that there is nothing "
        "to compare. See how the gates are now with `untilgreen check`."
    )


@dataclass(frozen=True, kw_only=True)
class _Again:
    """The final gates once more: the places and parts that they need."""

    state: RunState
    lap: Iteration
    code: Mapping[str, Path]
    workspace: GitWorkspace
    scratch: Path
    tree: Path
    walls: Walls | None

    async def verdicts(self) -> AsyncGenerator[tuple[str, Verdict], None]:
        """Gate by gate in one copy, and then whether that owes nothing to weakened tests."""
        plan, kept, snapshot = self.state.plan, Exporter(self.workspace), self.lap.snapshot or ""
        make, site = wiring.gate_maker(plan, self.code), self._site()
        below = self.workspace.root.resolve().relative_to((await kept.top()).resolve()).as_posix()
        copies = Copies(kept, snapshot, Tampering(original=snapshot), self.scratch)
        async with copies.as_it_is("final") as copy:
            for spec in repeated(plan.gates):
                if self._spoke(spec.name):
                    yield spec.name, (await rerun((spec,), make, copy, below, site))[spec.name]
        gates = wiring.integrity_of(plan, self.code, self.workspace, self.scratch)
        for name, gate in gates.items():
            if self._spoke(name):
                yield name, await gate.check(site)

    def _spoke(self, gate: str) -> bool:
        """Whether the journal has a verdict that can be compared."""
        verdict = self.lap.verdicts.get(gate)
        return verdict is not None and verdict.status != "skip"

    def _site(self) -> Site:
        return Site(
            root=self.workspace.root,
            lap=self.lap.number,
            snapshot=self.lap.snapshot or "",
            base=self.state.snapshot_of(0) or "",
            task=self.state.plan.task,
            allowed=self.state.allowed,
            tree=self.tree,
            env={INSIDE: self.state.run},
            walls=self.walls,
            originals=self.code,
        )


async def _look(
    state: RunState, lap: Iteration, folder: RunFolder, rows: list[Compared], said: Callable[[Compared], None]
) -> None:
    workspace = await workspace_of(state, folder)
    worktree = worktree_of(state.plan, folder)
    there = worktree if worktree is not None and worktree.path.is_dir() else None
    inside = await enclosure(state.plan, workspace.root, folder.path.parents[1], there)
    again = _Again(
        state=state,
        lap=lap,
        code=wiring.copies_in(state.plan, folder.code),
        workspace=workspace,
        scratch=folder.path / "verify",
        tree=folder.tree("verify"),
        walls=inside.gates,
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
        return replace(base, answer="unknown", reason=f"{names} could not run in a copy of the final tree.")
    if differing:
        names = ", ".join(map(repr, differing))
        return replace(base, answer="differs", reason=f"{names} does not say what the journal says.")
    if not base.gates:
        return replace(base, answer="unknown", reason="No gate of this run can be run again by a program.")
    return replace(
        base, answer="confirmed", reason="The journal is whole, and the gates say what it says they said."
    )
