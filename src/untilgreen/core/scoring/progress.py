"""How far a run has come, how fast it moves, and when it might be done."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Literal

from msgspec import Struct

from untilgreen.core.scoring.gate_scores import EARLIER, rate
from untilgreen.core.scoring.measure import judged
from untilgreen.core.values.state import RunState

Trend = Literal["improving", "stagnant", "regressing", "unknown"]
WINDOW = 8
"""How many of the latest laps velocity and trend are computed from."""
STEEP = 0.05
"""A slope per lap beyond which a run improves or regresses."""


class Progress(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The progress of a run, over all required gates or for one gate."""

    score: float
    previous: float | None
    gain: float
    """Against the best of all earlier laps."""
    fixed: tuple[str, ...]
    """Failing in the lap before, but no longer."""
    broken: tuple[str, ...]
    """Failing again, after it passed in an earlier lap."""
    new: tuple[str, ...]
    """Failing for the first time."""
    still: tuple[str, ...]
    """Failing as in the lap before; after the first lap, everything that fails."""
    velocity: float | None
    trend: Trend
    laps_left: int | None
    """An estimate, if the run makes progress at all."""


class Overview(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The progress of the whole run, and of each gate."""

    overall: Progress
    passed: int
    total: int
    gates: dict[str, Progress]


def progress(state: RunState) -> Overview:
    """Measured after the last finished lap; takes linear time, so it is for display, not for decisions."""
    laps = state.baseline_and_laps
    names = [gate.name for gate in judged(state.plan)]
    last = laps[-1].verdicts if laps else {}
    return Overview(
        overall=_progress([lap.score for lap in laps], [lap.failing for lap in laps]),
        passed=sum(name in last and last[name].status == "pass" for name in names),
        total=len(names),
        gates={gate.name: _of_gate(state, gate.name) for gate in state.plan.gates},
    )


def slope(points: list[float]) -> float | None:
    """The Theil-Sen slope: the median over all pairs of laps, which one outlier can't turn."""
    slopes = [(later - sooner) / (j - i) for (i, sooner), (j, later) in combinations(enumerate(points), 2)]
    from statistics import median  # noqa: PLC0415 - with all it loads, a twentieth of a short command's time

    return median(slopes) if slopes else None


def _of_gate(state: RunState, name: str) -> Progress:
    laps, tools = state.baseline_and_laps, state.tools.get(name, {})
    seen = [
        (verdict, rate(name, verdict, tools, laps[max(number - EARLIER, 0) : number]).score)
        for number, lap in enumerate(laps)
        if (verdict := lap.verdicts.get(name)) is not None and verdict.status != "skip"
    ]
    return _progress([score for _, score in seen], [verdict.failing(name) for verdict, _ in seen])


def _progress(scores: list[float], failing: list[frozenset[str]]) -> Progress:
    now = failing[-1] if failing else frozenset[str]()
    before = failing[-2] if len(failing) > 1 else frozenset[str]()
    ever = frozenset[str]().union(*failing[:-1])
    score = scores[-1] if scores else 0.0
    velocity = slope(scores[-WINDOW:])
    return Progress(
        score=score,
        previous=scores[-2] if len(scores) > 1 else None,
        gain=score - max(scores[:-1]) if len(scores) > 1 else 0.0,
        fixed=tuple(sorted(before - now)),
        broken=tuple(sorted(now & ever - before)),
        new=tuple(sorted(now - ever)) if len(failing) > 1 else (),
        still=tuple(sorted(now & before if len(failing) > 1 else now)),
        velocity=velocity,
        trend=_trend(velocity),
        laps_left=math.ceil((1.0 - score) / velocity - 1e-9) if velocity and velocity > 0 else None,
    )


def _trend(velocity: float | None) -> Trend:
    if velocity is None:
        return "unknown"
    if velocity > STEEP:
        return "improving"
    return "regressing" if velocity < -STEEP else "stagnant"
