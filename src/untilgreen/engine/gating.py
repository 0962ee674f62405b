"""Running the gates of one stage side by side, and making a verdict of whatever happens."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial

import anyio
from msgspec.structs import replace

from untilgreen.core.excerpt import kept_verdict
from untilgreen.core.foregone import foregone
from untilgreen.core.model import APPROVAL_GATE, INTEGRITY_GATE, REMEMBERS, Finding, GateSpec, Verdict
from untilgreen.core.standing import out_of_time
from untilgreen.core.state import Open, RunState
from untilgreen.engine.parts import Parts
from untilgreen.ports import Gate, Site, allowance

ASKS_OTHERS = REMEMBERS | {APPROVAL_GATE, INTEGRITY_GATE}
"""Gate kinds that people or another machine have a say in, so that the same files may get another verdict."""

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
        claim=lap.claim,
        allowed=state.allowed,
        seconds=parts.left(spec.timeout),
        output=output,
        tree=parts.files.tree(f"gate-{spec.name}"),
        env=parts.gate_env,
        walls=parts.enclosure.around(spec.kind),
        originals=parts.originals,
    )
    gate = parts.gates[spec.name]
    tries = [await _run(gate, spec, site, parts)]
    while tries[-1].status != "pass" and len(tries) <= spec.retries:
        tries.append(await _run(gate, spec, site, parts))
    verdict = replace(tries[-1], output=parts.files.pointer(output))
    return settled(verdict, [*_before(state, lap, spec), *tries[:-1]])


def settled(verdict: Verdict, earlier: list[Verdict]) -> Verdict:
    """The verdict with what earlier ones on the same files add: a red one beside a green one is a flake.

    A green verdict then names what was red, so that nobody has to look for it.
    """
    ran = [each for each in (*earlier, verdict) if each.status != "skip"]
    if len({each.status == "pass" for each in ran}) < 2:
        return verdict
    red = next(each for each in ran if each.status != "pass")
    return replace(verdict, flaky=True, findings=verdict.findings or red.findings)


def _before(state: RunState, lap: Open, spec: GateSpec) -> list[Verdict]:
    """What the gate said in laps that left the same files."""
    if spec.kind in ASKS_OTHERS:
        return []
    laps = [*([state.baseline] if state.baseline else []), *state.iterations]
    same = [each for each in laps if each.snapshot == lap.snapshot]
    return [each.verdicts[spec.name] for each in same if spec.name in each.verdicts]


async def _run(gate: Gate, spec: GateSpec, site: Site, parts: Parts) -> Verdict:
    started, seconds = parts.clock.now(), parts.left(spec.timeout)
    verdict = None
    with anyio.move_on_after(allowance(gate, seconds)):
        try:
            verdict = await gate.check(site)
        except Exception as error:  # a broken gate is news about the gate, not the end of the run
            finding = Finding(id=type(error).__name__, message=str(error))
            verdict = Verdict(status="error", findings=(finding,))
    if verdict is None:
        verdict = Verdict(status="error", findings=(out_of_time(seconds or 0),))
    return replace(verdict, duration=verdict.duration or max(0.0, parts.clock.now() - started))
