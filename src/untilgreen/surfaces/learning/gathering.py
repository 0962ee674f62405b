"""What to show: the numbers of each agent, and how agents compare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median_low

from untilgreen.backtest.score import interval
from untilgreen.core.learning.calibration import CalibrationClass, calibration
from untilgreen.core.learning.estimate import OwnEstimate
from untilgreen.core.learning.track_record import Replay, replayed
from untilgreen.core.values.model import PartSpec
from untilgreen.core.values.units import money
from untilgreen.engine.store.notes.lesson_book import Taught, agent_key, courses
from untilgreen.engine.wiring.learned import MOST_RUNS, own_numbers, shared_prior, worth_in_laps
from untilgreen.errors import UserError
from untilgreen.surfaces.json.lines import Line, PastRuns

ByAgent = Mapping[str, Sequence[Taught]]


class LessonLine(Line, frozen=True, kw_only=True, tag="lesson"):
    """What the runs with one agent taught: `learn --json`."""

    agent: str
    own: OwnEstimate
    prior: str
    """The version of the shared prior."""
    worth_laps: float | None
    """What a green run is worth in laps; null where money can't be compared."""
    replay: Replay | None
    """How the estimate does on the same runs, compared with hybrid; null if it can't be compared."""
    calibration: tuple[CalibrationClass, ...]


class RateLine(Line, frozen=True, kw_only=True, tag="rate"):
    """How often runs with one agent ended green, and what that took: `learn --agents --json`."""

    agent: str
    runs: int
    green: int
    interval: tuple[float, float] | None
    """The 95 % confidence interval of the rate."""
    half_green_by: int | None
    """The lap by which half of the green runs were green."""
    lap_cost: float | None
    """The mean price of a lap in dollars, over runs with a known cost."""
    green_cost: float | None
    """What each green run cost, failed runs included."""


def chosen(by_agent: ByAgent, agent: str | None) -> ByAgent:
    """All, or the one that was named."""
    return {name: taught for name, taught in by_agent.items() if agent in (None, name)}


def written_worth(text: str) -> float | str:
    """A number of laps, or money."""
    try:
        laps = float(text)
    except ValueError:
        money(text, "--worth")
        return text
    if not 1 <= laps < float("inf"):
        raise UserError(f"--worth must be at least 1 lap, not {text}.")
    return laps


def lessons(by_agent: ByAgent, worth: float | str) -> list[LessonLine]:
    """One line for each agent, by name."""
    return [_lesson(name, by_agent[name], worth) for name in sorted(by_agent)]


def _lesson(agent: str, taught: Sequence[Taught], worth: float | str) -> LessonLine:
    prior, past = shared_prior(), courses(taught)[-MOST_RUNS:]
    laps = worth_in_laps(past, worth)
    return LessonLine(
        agent=agent,
        own=own_numbers(past, worth),
        prior=prior.version,
        worth_laps=laps,
        replay=replayed(prior, past, laps) if laps is not None else None,
        calibration=calibration(prior, past),
    )


def rates(by_agent: ByAgent) -> list[RateLine]:
    """One line for each agent, the most certain first."""
    found = [_rate(name, taught) for name, taught in by_agent.items()]
    return sorted(found, key=lambda rate: (-(rate.interval or (0.0, 0.0))[0], rate.agent))


def past_runs(by_agent: ByAgent, part: PartSpec, start: Path) -> PastRuns | None:
    """What earlier runs with this agent took, in this directory if there are some."""
    agent = agent_key(part)
    known = by_agent.get(agent, ())
    here = [taught for taught in known if taught.workspace == str(start)]
    if not known:
        return None
    rate = _rate(agent, here or known)
    return PastRuns(
        agent=agent,
        here=bool(here),
        runs=rate.runs,
        green=rate.green,
        half_green_by=rate.half_green_by,
        lap_cost=rate.lap_cost,
    )


def _rate(agent: str, taught: Sequence[Taught]) -> RateLine:
    past = courses(taught)
    green = [course.laps for course in past if course.green]
    priced = [course for course in past if course.cost]
    cost = sum(course.cost or 0.0 for course in priced)
    won = sum(course.green for course in priced)
    return RateLine(
        agent=agent,
        runs=len(past),
        green=len(green),
        interval=interval(len(green), len(past)),
        half_green_by=median_low(green) if green else None,
        lap_cost=cost / sum(course.laps for course in priced) if priced else None,
        green_cost=cost / won if won else None,
    )
