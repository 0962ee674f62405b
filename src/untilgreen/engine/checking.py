"""The gates once, on what is there now, without an agent and without a run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import anyio
from anyio.abc import TaskStatus
from msgspec import Struct

from untilgreen.config.load import Loaded
from untilgreen.core.decide import unrunnable
from untilgreen.core.events import GateChecked, RunStarted, SnapshotTaken
from untilgreen.core.fold import apply
from untilgreen.core.measure import is_green
from untilgreen.core.model import Plan, Verdict
from untilgreen.core.step import CheckGates, next_step
from untilgreen.engine import wiring
from untilgreen.engine.clock import SystemClock
from untilgreen.engine.drive import SIGNALS
from untilgreen.engine.gating import check_stage
from untilgreen.engine.parts import Parts
from untilgreen.ports import Restoration


class Checked(Struct, frozen=True, kw_only=True):
    """What the gates said."""

    verdicts: dict[str, Verdict]
    green: bool
    broken: bool
    """A required gate could not run at all."""
    signal: int = 0
    """What ended it before all gates had spoken."""


class _AsItIs:
    """The files as they are; nothing is kept of them."""

    def __init__(self, root: Path) -> None:
        self.root = root

    async def snapshot(self, label: str) -> str:
        return ""

    async def changes(self, before: str, after: str) -> tuple[()]:
        return ()

    async def restore(self, snapshot: str, known: str | None) -> Restoration:
        return Restoration(before="")

    async def diff(self, before: str, after: str) -> str:
        return ""


async def check_once(
    loaded: Loaded, start: Path, said: Callable[[str, Verdict], None], *, signals: bool = False
) -> Checked:
    """Stage by stage, as a run would; each verdict is told as soon as it is there.

    With `signals`, Ctrl-C and its like end the gates with all that they started.
    """
    plan = Plan(
        task=loaded.spec.task,
        gates=loaded.spec.gates,
        workspace={wiring.BASE: str(loaded.base), wiring.START: str(start)},
    )
    clock = SystemClock()
    parts = Parts(
        agents={},
        gates=wiring.gates_of(plan, {}),
        workspace=_AsItIs(start),
        policy=wiring.policy_of(plan, {}),
        clock=clock,
    )
    state = apply(None, RunStarted(at=clock.now(), run="check", plan=plan))
    state = apply(state, SnapshotTaken(at=clock.now(), lap=0, phase="turn", snapshot="as it is"))

    async def judged(gate: str, verdict: Verdict) -> None:
        nonlocal state
        state = apply(state, GateChecked(at=clock.now(), lap=0, gate=gate, verdict=verdict))
        said(gate, verdict)

    heard: list[int] = []
    async with anyio.create_task_group() as group:
        if signals:
            await group.start(leave_on_a_signal, group.cancel_scope, heard)
        while isinstance(step := next_step(state), CheckGates):
            await check_stage(state, step.gates, parts, judged)
        group.cancel_scope.cancel()
    verdicts = state.open.verdicts if state.open else {}
    required = [gate.name for gate in plan.gates if gate.required]
    broken = any(name in verdicts and unrunnable(verdicts[name]) for name in required)
    return Checked(
        verdicts=verdicts,
        green=is_green(plan, verdicts),
        broken=broken,
        signal=heard[0] if heard else 0,
    )


async def leave_on_a_signal(
    work: anyio.CancelScope, heard: list[int], *, task_status: TaskStatus[None]
) -> None:
    """Ctrl-C and its like end the work; what was heard tells that it did not end by itself."""
    with anyio.open_signal_receiver(*SIGNALS) as received:
        task_status.started()
        async for number in received:
            heard.append(number)
            work.cancel()
