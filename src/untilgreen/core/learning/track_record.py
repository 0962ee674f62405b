"""Whether the estimate may decide: your runs replayed with it and with `hybrid`."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from statistics import fmean, stdev

from msgspec import Struct
from msgspec.structs import replace

from untilgreen.core.learning.course import Course, lessons
from untilgreen.core.learning.estimate import OwnEstimate, Prior, chance, pays
from untilgreen.core.learning.fitting import fit
from untilgreen.core.values.units import several

FEWEST_RUNS = 20
"""How many of your own runs are needed before the estimate may decide."""
FIRST_STOP = 3
"""The earliest lap after which a run can end: after two laps there is only one pair to compare."""
_PARTS = 5
"""Each fifth of the runs is judged by numbers fitted to the others, never by its own data."""
_STANDARD_ERRORS = 1.0
"""Standard errors by which the estimate has to beat `hybrid`, so that luck is rarely enough."""
_Z = 1.959964


class Replay(Struct, frozen=True, kw_only=True):
    """The same runs with the estimate and with `hybrid`; a success counts as the laps that it is worth."""

    runs: int
    gain: float
    """By how much the estimate is better."""
    error: float
    """The standard error of that."""
    interval: tuple[float, float] | None
    """Its 95 % confidence interval; None for fewer than two runs."""
    kept: int
    """Successes with the estimate."""
    kept_by_hybrid: int
    saved: int
    """Laps that the estimate would have saved."""
    saved_by_hybrid: int


def learned(prior: Prior, courses: Sequence[Course], worth: float) -> OwnEstimate:
    """What is learned from these runs if a success is worth this many laps."""
    own = replace(fit(prior, list(lessons(prior, courses))), runs=len(courses))
    if len(courses) < FEWEST_RUNS:
        return replace(own, why=f"{several(len(courses), 'run')} so far, and it takes {FEWEST_RUNS}")
    again = replayed(prior, courses, worth)
    last = f"on your last {several(again.runs, 'run')}"
    if again.gain < 0:
        return replace(own, why=f"{last} it would have been {-again.gain:.2f} laps a run worse")
    won = f"{last} it would have been {again.gain:.2f} laps a run better"
    if again.gain < _STANDARD_ERRORS * again.error:
        return replace(own, why=f"{won}, which may be chance")
    return replace(own, active=True, why=won)


def replayed(prior: Prior, courses: Sequence[Course], worth: float) -> Replay:
    """Replay every run, each with numbers from the others."""
    pairs = [(course, end_by(prior, own, course, 1 / worth)) for course, own in out_of_fold(prior, courses)]
    gains = [_value(course, end, worth) - _value(course, course.hybrid, worth) for course, end in pairs]
    return Replay(
        runs=len(courses),
        gain=(gain := fmean(gains) if gains else 0.0),
        error=(error := stdev(gains) / sqrt(len(gains)) if len(gains) > 1 else 0.0),
        interval=(gain - _Z * error, gain + _Z * error) if len(gains) > 1 else None,
        kept=sum(course.green and end == course.laps for course, end in pairs),
        kept_by_hybrid=sum(course.green and course.hybrid == course.laps for course in courses),
        saved=sum(course.laps - end for course, end in pairs),
        saved_by_hybrid=sum(course.laps - course.hybrid for course in courses),
    )


def out_of_fold(prior: Prior, courses: Sequence[Course]) -> list[tuple[Course, OwnEstimate]]:
    """Each run with numbers from the runs of the other parts."""
    owns = []
    for part in range(min(_PARTS, len(courses))):
        others = [course for place, course in enumerate(courses) if place % _PARTS != part]
        owns.append(fit(prior, list(lessons(prior, others))))
    return [(course, owns[place % _PARTS]) for place, course in enumerate(courses)]


def end_by(prior: Prior, own: OwnEstimate, course: Course, price: float) -> int:
    """The lap after which the estimate ends a run, at most the last."""
    for number in range(FIRST_STOP, course.laps):
        likely = chance(own, prior.logit(course.seen[number - 1]))
        if not pays(likely, price, hybrid_stops=number >= course.hybrid):
            return number
    return course.laps


def _value(course: Course, end: int, worth: float) -> float:
    return worth * (course.green and end == course.laps) - end
