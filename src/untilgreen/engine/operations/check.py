"""Runs the gates alone, on the current files, without an agent or a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path

import anyio
from msgspec import Struct
from msgspec.structs import replace

from untilgreen.config.load import Loaded
from untilgreen.core.loop.fold import apply
from untilgreen.core.loop.step import CheckGates, next_step
from untilgreen.core.scoring.gate_health import Tally, health, unrunnable
from untilgreen.core.scoring.measure import is_green
from untilgreen.core.values.events import GateChecked, RunStarted, SnapshotTaken
from untilgreen.core.values.model import GateSpec, Plan, Verdict
from untilgreen.engine.driving.signals import leave_on_a_signal
from untilgreen.engine.loop.parts import Parts
from untilgreen.engine.loop.stages import check_stage, marked_if_flaky
from untilgreen.engine.wiring.clock import SystemClock
from untilgreen.engine.wiring.objects import gates_of, objects_of, policy_of
from untilgreen.engine.wiring.redaction import redacted, secrets_of, without_secrets
from untilgreen.engine.wiring.sandbox import enclosure
from untilgreen.ports import Restoration

MOST_FINDINGS = 200
_BADNESS = {"skip": 0, "pass": 1, "fail": 2, "error": 3}


Said = Callable[[int, str, Verdict], None]
"""Called with every verdict, its round and its gate."""


class Checked(Struct, frozen=True, kw_only=True):
    """What the gates said."""

    gates: dict[str, Tally]
    green: bool
    """Whether all required gates passed in every round."""
    broken: bool
    """Whether a required gate could not run at all."""
    signal: int = 0
    """The signal that ended it before all gates were done."""


class _AsItIs:
    """The files as they are; no snapshot is taken."""

    def __init__(self, root: Path) -> None:
        self.root = root

    async def snapshot(self, label: str) -> str:
        return ""

    async def changes(self, before: str, after: str) -> tuple[()]:
        return ()

    async def restore(self, snapshot: str, known: str | None, spare: Collection[str] = ()) -> Restoration:
        return Restoration(before="")

    async def diff(self, before: str, after: str) -> str:
        return ""


async def check_gates(
    loaded: Loaded,
    start: Path,
    said: Said,
    *,
    state_dir: Path,
    rounds: int = 1,
    signals: bool = False,
) -> Checked:
    """Run the gates stage by stage, as a run would; each verdict is reported as soon as it is known.

    More `rounds` on the same files find flaky gates. With `signals`, Ctrl-C and the like kill the gates and
    everything they started. They run in the sandbox that a run would use, which hides `state_dir`.
    """
    plan, _ = redacted(
        Plan(
            task=loaded.spec.task,
            gates=loaded.spec.gates,
            sandbox=loaded.spec.sandbox,
            workspace={"base": str(loaded.base), "start": str(start)},
        )
    )
    objects = objects_of(plan)
    parts = Parts(
        agents={},
        gates=gates_of(plan, objects),
        workspace=_AsItIs(start),
        policy=policy_of(plan, objects),
        clock=SystemClock(),
        secrets=secrets_of(plan),
        enclosure=await enclosure(plan, start, state_dir),
    )
    heard: list[int] = []
    found: list[dict[str, Verdict]] = []
    async with anyio.create_task_group() as group:
        if signals:
            await group.start(leave_on_a_signal, group.cancel_scope, heard)
        for number in range(1, rounds + 1):
            found.append({})
            await _round(plan, parts, found[-1], partial(said, number))
        group.cancel_scope.cancel()
    required = [gate.name for gate in plan.gates if gate.required]
    return Checked(
        gates=_tallies(plan, found),
        green=all(is_green(plan, verdicts) for verdicts in found),
        broken=any(name in each and unrunnable(each[name]) for each in found for name in required),
        signal=heard[0] if heard else 0,
    )


async def _round(
    plan: Plan, parts: Parts, found: dict[str, Verdict], said: Callable[[str, Verdict], None]
) -> None:
    now = parts.clock.now
    state = apply(None, RunStarted(at=now(), run="check", plan=plan))
    state = apply(state, SnapshotTaken(at=now(), lap=0, phase="turn", snapshot="as it is"))

    async def judged(gate: str, verdict: Verdict) -> None:
        nonlocal state
        verdict = without_secrets(verdict, parts.secrets)
        state = apply(state, GateChecked(at=now(), lap=0, gate=gate, verdict=verdict))
        found[gate] = verdict
        said(gate, verdict)

    while isinstance(step := next_step(state), CheckGates):
        await check_stage(state, step.gates, parts, judged)


def _tallies(plan: Plan, rounds: list[dict[str, Verdict]]) -> dict[str, Tally]:
    spoke = [(gate, [each[gate.name] for each in rounds if gate.name in each]) for gate in plan.gates]
    return {gate.name: _tally(gate, verdicts) for gate, verdicts in spoke if verdicts}


def _tally(gate: GateSpec, verdicts: list[Verdict]) -> Tally:
    """The worst round stands for all of them."""
    ran = [verdict for verdict in verdicts if verdict.status != "skip"]
    worst = max(verdicts, key=lambda verdict: _BADNESS[verdict.status])
    longest = max(verdict.duration for verdict in verdicts)
    flaky = any(verdict.flaky for verdict in verdicts)
    together = replace(marked_if_flaky(replace(worst, flaky=flaky), verdicts), duration=longest)
    ids = Counter(finding.id for verdict in ran for finding in verdict.findings)
    return Tally(
        health=health(gate, together),
        ran=len(ran),
        passed=sum(verdict.status == "pass" for verdict in ran),
        seconds=longest,
        findings=dict(ids.most_common(MOST_FINDINGS)),
    )
