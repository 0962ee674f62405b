"""The most that a run can cost, from its limits alone."""

from __future__ import annotations

import math

from msgspec import Struct

from untilgreen.core.values.limits import ceiling
from untilgreen.core.values.model import GateSpec, Plan


class WorstCase(Struct, frozen=True, kw_only=True):
    """Maximums; None means no limit."""

    laps: int | None
    seconds: float | None
    """Until the run ends by itself, not counting waits."""
    gates_seconds: float | None
    """How long all gates of one lap may take."""
    wait_seconds: float | None
    cost: float | None
    tokens: int | None


def worst_case(plan: Plan) -> WorstCase:
    """A turn ends at the time limit; the gates of its lap still run, twice if files change meanwhile."""
    limits, gates = plan.limits, gates_seconds(plan.gates)
    laps = ceiling(plan.most_laps)
    by_time = ceiling(limits.time) + 2 * gates
    by_laps = gates + laps * (ceiling(limits.lap) + 2 * gates)
    cost, tokens = ceiling(limits.cost), ceiling(limits.tokens)
    return WorstCase(
        laps=None if math.isinf(laps) else int(laps),
        seconds=_finite(min(by_time, by_laps)),
        gates_seconds=_finite(gates),
        wait_seconds=_finite(ceiling(limits.wait)),
        cost=_finite(cost),
        tokens=None if math.isinf(tokens) else int(tokens),
    )


def gates_seconds(gates: tuple[GateSpec, ...]) -> float:
    """Gates of one stage run side by side, stages one after another."""
    stages: dict[int, float] = {}
    for gate in gates:
        most = (math.inf if gate.timeout is None else gate.timeout) * (1 + gate.retries)
        stages[gate.stage] = max(stages.get(gate.stage, 0.0), most)
    return sum(stages.values())


def _finite(number: float) -> float | None:
    return None if math.isinf(number) else number
