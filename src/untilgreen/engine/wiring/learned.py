"""The numbers that `adaptive` decides by, put into the plan when a run begins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files

import msgspec
from msgspec.structs import replace

from untilgreen.core.learning.course import Course
from untilgreen.core.learning.estimate import OwnEstimate, Prior
from untilgreen.core.learning.track_record import learned
from untilgreen.core.strategies.adaptive import WORTH
from untilgreen.core.values.model import Plan
from untilgreen.core.values.units import money

MOST_RUNS = 200
"""How many of an agent's newest runs to learn from: enough for two numbers, and agents change."""


@cache
def shared_prior() -> Prior:
    """The prior that ships with this version; `bench/learning/refit.py` makes it."""
    return msgspec.json.decode(files(__package__).joinpath("prior.json").read_bytes(), type=Prior)


def with_learned(plan: Plan, past: Mapping[str, Sequence[Course]]) -> Plan:
    """The plan with the prior, and with what past runs taught about its agents, by name."""
    worth = plan.strategy.options.get("worth", WORTH)
    own = {name: own_numbers(past[name], worth) for name in plan.agent_names() if name in past}
    options = {
        **plan.strategy.options,
        "prior": msgspec.to_builtins(shared_prior()),
        "own": msgspec.to_builtins(own),
    }
    return replace(plan, strategy=replace(plan.strategy, options=options))


def own_numbers(past: Sequence[Course], worth: float | str, prior: Prior | None = None) -> OwnEstimate:
    """What was learned from these runs, for a worth in laps or in money."""
    recent = past[-MOST_RUNS:]
    laps = worth_in_laps(recent, worth)
    if laps is None:
        return OwnEstimate(
            runs=len(recent), why="what a lap costs is not known, so its worth in money can't be compared"
        )
    return learned(prior or shared_prior(), recent, laps)


def worth_in_laps(past: Sequence[Course], worth: float | str) -> float | None:
    """Money as laps, by what a lap of these runs cost; None if no cost is known."""
    if not isinstance(worth, str):
        return float(worth)
    priced = [course for course in past if course.cost]
    cost, laps = sum(course.cost or 0.0 for course in priced), sum(course.laps for course in priced)
    return max(1.0, money(worth, "adaptive: worth") * laps / cost) if cost else None
