"""What a finished run teaches."""

import pytest

from tests.core.helpers import PASS, Run, Turn, priced, red
from untilgreen.core.learning.course import Course, course_of, end_with, lessons
from untilgreen.core.learning.estimate import Prior
from untilgreen.core.learning.features import Features
from untilgreen.core.strategies.fixed import Fixed
from untilgreen.core.strategies.hybrid import Hybrid

PRIOR = Prior(version="test", intercept=0.0, weights=(0.0, 0.0, 0.0, 1.0))


def course(laps: int, *, green: bool) -> Course:
    seen = tuple(Features(distinct=1 / number) for number in range(1, laps + 1))
    return Course(seen=seen, green=green, hybrid=laps)


def test_a_run_in_numbers_has_its_laps_its_end_and_its_cost() -> None:
    run = Run()
    for finding in "ab":
        run.lap(Turn(reply=priced(0.5)), tests=red(finding))
    run.lap(Turn(reply=priced(0.5)), tests=PASS)

    result = course_of(run.state, Hybrid(), green=True)

    assert (result.laps, result.green, result.hybrid, result.cost) == (3, True, 3, 1.5)
    assert result.seen[0].distinct == 1.0


def test_it_knows_after_which_lap_another_strategy_would_have_ended_it() -> None:
    run = Run()
    for number in range(12):
        run.lap(tests=red(f"finding {'x' * number}"))

    assert course_of(run.state, Hybrid(), green=False).hybrid == 8
    assert end_with(Fixed(iterations=3), run.state) == 3
    assert end_with(Fixed(iterations=30), run.state) == 12


def test_only_laps_that_another_followed_are_lessons() -> None:
    found = list(lessons(PRIOR, [course(3, green=True), course(1, green=True)]))

    assert [(lesson.logit, lesson.green) for lesson in found] == [(1.0, False), (0.5, True)]


def test_where_a_run_ended_red_nothing_led_to_green() -> None:
    assert [lesson.green for lesson in lessons(PRIOR, [course(3, green=False)])] == [False, False]


@pytest.mark.parametrize(("laps", "weight"), [(2, 1.0), (4, 1.0), (8, 0.5)])
def test_a_long_run_counts_no_more_than_a_short_one(laps: int, weight: float) -> None:
    assert {lesson.weight for lesson in lessons(PRIOR, [course(laps, green=False)])} == {weight}
