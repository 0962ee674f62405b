"""Runs the gates of one stage side by side; whatever happens becomes a verdict."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial

import anyio
from msgspec.structs import replace

from untilgreen.core.briefing.excerpt import kept_verdict
from untilgreen.core.scoring.gate_health import out_of_time
from untilgreen.core.scoring.known_verdicts import known_verdict
from untilgreen.core.scoring.vanished_tests import doubt_vanished_tests
from untilgreen.core.values.model import NOT_OF_FILES_ALONE, Finding, GateSpec, Verdict
from untilgreen.core.values.state import Open, RunState
from untilgreen.engine.loop.parts import Parts
from untilgreen.ports import CheckContext, Gate, allowance

Judged = Callable[[str, Verdict], Awaitable[None]]


async def check_stage(state: RunState, names: tuple[str, ...], parts: Parts, judged: Judged) -> None:
    """Run the gates; each verdict is passed on as soon as it is known."""
    lap = state.open
    if lap is None:
        return
    gates, context = {gate.name: gate for gate in state.plan.gates}, _context(state, lap, parts)

    async def check(gate: GateSpec) -> None:
        verdict = known_verdict(state, lap, gate)
        if verdict is None:
            verdict = await _with_retries(state, lap, gate, parts, context)
        await judged(gate.name, kept_verdict(verdict))

    async with anyio.create_task_group() as group:
        for name in names:
            group.start_soon(check, gates[name])


def _context(state: RunState, lap: Open, parts: Parts) -> CheckContext:
    """What is the same for all gates of a stage."""
    base, snapshot = state.snapshot_of(0) or lap.base or "", lap.snapshot or ""
    return CheckContext(
        root=parts.workspace.root,
        lap=lap.number,
        snapshot=snapshot,
        base=base,
        diff=partial(parts.workspace.diff, base, snapshot),
        task=state.plan.task,
        claim=lap.claim,
        allowed=state.allowed,
        tree=parts.files.tree("gates"),
        env=parts.gate_env,
        originals=parts.originals,
        baseline=_of_the_untouched_tree(state, lap),
    )


async def _with_retries(
    state: RunState, lap: Open, spec: GateSpec, parts: Parts, context: CheckContext
) -> Verdict:
    """A gate that gives different verdicts on the same files is flaky, and that is always reported."""
    output = parts.files.output(lap.number, spec.name)
    context = replace(
        context,
        seconds=parts.seconds_left(spec.timeout),
        output=output,
        sandbox=parts.enclosure.around(spec.kind),
    )
    gate, known = parts.gates[spec.name], state.tools.get(spec.name, {})
    tries = [doubt_vanished_tests(known, spec, await _run(gate, spec, context, parts))]
    while tries[-1].status != "pass" and len(tries) <= spec.retries:
        tries.append(doubt_vanished_tests(known, spec, await _run(gate, spec, context, parts)))
    printed = output is not None and output.exists()
    verdict = replace(tries[-1], output=parts.files.pointer(output) if printed else None)
    return marked_if_flaky(verdict, [*_before(state, lap, spec), *tries[:-1]])


def _of_the_untouched_tree(state: RunState, lap: Open) -> Mapping[str, Verdict]:
    """The verdicts on the untouched files; before the first lap, those so far."""
    if lap.number == 0:
        return lap.verdicts
    return state.baseline.verdicts if state.baseline is not None else {}


def marked_if_flaky(verdict: Verdict, earlier: list[Verdict]) -> Verdict:
    """The verdict, marked as flaky if an earlier one on the same files was different.

    A green verdict then names what was red, so that nobody has to search for it.
    """
    ran = [each for each in (*earlier, verdict) if each.status != "skip"]
    if len({each.status == "pass" for each in ran}) < 2:
        return verdict
    red = next(each for each in ran if each.status != "pass")
    return replace(verdict, flaky=True, findings=verdict.findings or red.findings)


def _before(state: RunState, lap: Open, spec: GateSpec) -> list[Verdict]:
    """The gate's verdicts in laps that left the same files."""
    if spec.kind in NOT_OF_FILES_ALONE:
        return []
    same = [each for each in state.baseline_and_laps if each.snapshot == lap.snapshot]
    return [each.verdicts[spec.name] for each in same if spec.name in each.verdicts]


async def _run(gate: Gate, spec: GateSpec, context: CheckContext, parts: Parts) -> Verdict:
    started, seconds = parts.clock.now(), parts.seconds_left(spec.timeout)
    verdict = None
    with anyio.move_on_after(allowance(gate, seconds)):
        try:
            verdict = await gate.check(context)
        except Exception as error:  # a broken gate is news about the gate, not the end of the run
            finding = Finding(id=type(error).__name__, message=str(error))
            verdict = Verdict(status="error", findings=(finding,))
    if verdict is None:
        verdict = Verdict(status="error", findings=(out_of_time(seconds or 0),))
    return replace(verdict, duration=verdict.duration or max(0.0, parts.clock.now() - started))
