"""Running the gates of one stage side by side, and making a verdict of whatever happens."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial

import anyio
from msgspec.structs import replace

from untilgreen.core.excerpt import kept_verdict
from untilgreen.core.foregone import foregone
from untilgreen.core.model import Finding, GateSpec, Verdict
from untilgreen.core.state import Open, RunState
from untilgreen.core.units import show_duration
from untilgreen.engine.parts import Parts
from untilgreen.ports import Gate, Site

Judged = Callable[[str, Verdict], Awaitable[None]]


async def check_stage(state: RunState, names: tuple[str, ...], parts: Parts, judged: Judged) -> None:
    """Each verdict is handed over as soon as it is there."""
    lap = state.open
    if lap is None:
        return
    async with anyio.create_task_group() as group:
        for name in names:
            group.start_soon(_check, state, lap, state.plan.gate(name), parts, judged)


async def _check(state: RunState, lap: Open, gate: GateSpec, parts: Parts, judged: Judged) -> None:
    verdict = foregone(state, lap, gate)
    if verdict is None:
        verdict = await _with_retries(state, lap, gate, parts)
    await judged(gate.name, kept_verdict(verdict))


async def _with_retries(state: RunState, lap: Open, spec: GateSpec, parts: Parts) -> Verdict:
    """A gate that changes its mind while no file changed is flaky, and that is never kept quiet."""
    output = parts.files.output(lap.number, spec.name)
    base, snapshot = state.snapshot_of(0) or lap.base or "", lap.snapshot or ""
    site = Site(
        root=parts.workspace.root,
        lap=lap.number,
        snapshot=snapshot,
        base=base,
        diff=partial(parts.workspace.diff, base, snapshot),
        task=state.plan.task,
        allowed=state.allowed,
        output=output,
        tree=parts.files.tree(f"gate-{spec.name}"),
        env=parts.gate_env,
    )
    gate = parts.gates[spec.name]
    verdict = first = await _run(gate, spec, site, parts)
    for _ in range(spec.retries):
        if verdict.status == "pass":
            break
        verdict = await _run(gate, spec, site, parts)
    before = state.last.verdicts.get(spec.name) if state.last else None
    same_tree = state.last is not None and state.last.snapshot == lap.snapshot
    flipped = same_tree and before is not None and {before.status, verdict.status} == {"pass", "fail"}
    return replace(
        verdict,
        flaky=verdict.flaky or first.status != verdict.status or flipped,
        output=parts.files.pointer(output),
    )


async def _run(gate: Gate, spec: GateSpec, site: Site, parts: Parts) -> Verdict:
    started = parts.clock.now()
    verdict = None
    with anyio.move_on_after(spec.timeout):
        try:
            verdict = await gate.check(site)
        except Exception as error:  # a broken gate is news about the gate, not the end of the run
            finding = Finding(id=type(error).__name__, message=str(error))
            verdict = Verdict(status="error", findings=(finding,))
    if verdict is None:
        message = f"ended after {show_duration(spec.timeout or 0)}, its time limit"
        verdict = Verdict(status="error", findings=(Finding(id="timeout", message=message),))
    return replace(verdict, duration=verdict.duration or max(0.0, parts.clock.now() - started))
