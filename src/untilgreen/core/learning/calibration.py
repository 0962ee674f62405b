"""Whether predictions came true: laps by their predicted chance, and how many led to green."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from untilgreen.core.learning.course import Course, lessons
from untilgreen.core.learning.estimate import Prior, chance
from untilgreen.core.learning.track_record import out_of_fold

EDGES = (0.02, 0.05, 0.15, 0.5)
"""The boundaries between classes of chances."""


class CalibrationClass(Struct, frozen=True, kw_only=True):
    """The laps whose chance was between two boundaries."""

    laps: int
    said: float
    """The mean of their chances."""
    was: float
    """The share of them that were followed by a green lap."""


def calibration(prior: Prior, courses: Sequence[Course]) -> tuple[CalibrationClass, ...]:
    """The classes that have laps, from unlikely to likely; each run is judged by the others."""
    classes: list[list[tuple[float, bool]]] = [[] for _ in range(len(EDGES) + 1)]
    for course, own in out_of_fold(prior, courses):
        for lesson in lessons(prior, [course]):
            said = chance(own, lesson.logit).mean
            classes[sum(said >= edge for edge in EDGES)].append((said, lesson.green))
    return tuple(
        CalibrationClass(
            laps=len(laps),
            said=sum(said for said, _ in laps) / len(laps),
            was=sum(green for _, green in laps) / len(laps),
        )
        for laps in classes
        if laps
    )
