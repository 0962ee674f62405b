"""A finished run in numbers: what its laps looked like, and which of them led to green."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from untilgreen.core.learning.estimate import Prior
from untilgreen.core.learning.features import Features, features
from untilgreen.core.values.decision import Finish
from untilgreen.core.values.rules import Strategy
from untilgreen.core.values.state import RunState

_FULL_WEIGHT = 4
"""The most laps that one run can count as; the laps of a longer run weigh less."""


class Course(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A run in numbers, small enough to keep."""

    seen: tuple[Features, ...]
    """The features after each lap."""
    green: bool
    """Whether its last lap was green."""
    hybrid: int
    """The lap after which `hybrid` would have ended it, at most the last."""
    cost: float | None = None
    """The cost of the whole run in dollars, if known."""

    @property
    def laps(self) -> int:
        """The number of laps."""
        return len(self.seen)


class Lesson(NamedTuple):
    """A lap that was followed by another one."""

    logit: float
    """What the prior said after it."""
    green: bool
    """Whether the next one was green."""
    weight: float


def course_of(state: RunState, hybrid: Strategy, *, green: bool) -> Course:
    """The course of a run that is over, or that is cut off at this state."""
    laps = state.laps
    return Course(
        seen=tuple(features(laps[:number]) for number in range(1, len(laps) + 1)),
        green=green,
        hybrid=end_with(hybrid, state),
        cost=state.spent.cost,
    )


def lessons(prior: Prior, courses: Sequence[Course]) -> Iterator[Lesson]:
    """Every lap of these runs that was followed by another one."""
    for course in courses:
        weight = min(1.0, _FULL_WEIGHT / max(1, course.laps))
        for number, seen in enumerate(course.seen[:-1], 1):
            yield Lesson(prior.logit(seen), course.green and number == course.laps - 1, weight)


def end_with(strategy: Strategy, state: RunState) -> int:
    """The lap after which a strategy would end this run without any signals, at most the last."""
    for number in range(1, len(state.laps)):
        if isinstance(strategy.decide(replace(state, laps=state.laps[:number]), ()), Finish):
            return number
    return len(state.laps)
