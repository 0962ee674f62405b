"""The steps and successes that a stop would have saved and lost."""

from typing import Any

import pytest

from untilgreen.backtest.replay import Stops
from untilgreen.backtest.score import Figures, Played, Source, figures, interval


def run(
    steps: int,
    stop: int | None = None,
    *,
    success: bool | None = False,
    source: str = "here",
    onset: int | None = None,
    **more: Any,
) -> Played:
    restarts = more.pop("restarts", ())
    decision = Stops(source=source, id="x", stop=stop, restarts=restarts)
    return Played(decision=decision, steps=steps, success=success, onset=onset, **{"attempts": (), **more})


def measured(*runs: Played) -> Figures:
    (source,) = figures(runs)
    assert source.stop is not None
    return source.stop


def test_a_success_is_lost_only_where_it_is_cut_before_its_last_step() -> None:
    seen = measured(run(5, 4, success=True), run(5, 3, success=True), run(5, success=True))

    assert (seen.successes, seen.false_stops, seen.false_stop_rate) == (3, 1, 1 / 3)


def test_saved_are_the_steps_after_the_stop_in_failed_runs_only() -> None:
    seen = measured(run(10, 3), run(10), run(10, 0, success=True))

    assert (seen.saved_steps, seen.failed_steps, seen.saved) == (6, 20, 0.3)


def test_recall_counts_loops_that_are_noticed_within_one_two_or_three_steps() -> None:
    seen = measured(run(9, 5, onset=4), run(9, 6, onset=4), run(9, 7, onset=4), run(9, onset=4), run(9, 2))

    assert (seen.loops, seen.recall) == (4, {"1": 0.25, "2": 0.5, "3": 0.75})


def test_with_restarts_each_attempt_is_cut_and_the_last_one_decides_about_a_success() -> None:
    failed = run(12, 2, restarts=((0, 2), (2, 10)), attempts=((0, 0, 5), (1, 5, 9), (2, 9, 12)))
    kept = run(6, 1, success=True, restarts=((0, 1),), attempts=((0, 0, 3), (1, 3, 6)))
    lost = run(6, 4, success=True, restarts=((1, 4),), attempts=((0, 0, 3), (1, 3, 6)))

    (source,) = figures([failed, kept, lost])

    assert source.restart is not None
    assert (source.restart.saved_steps, source.restart.failed_steps) == (3, 12)
    assert (source.restart.successes, source.restart.false_stops) == (2, 1)
    assert source.stop is not None
    assert (source.stop.saved_steps, source.stop.false_stops) == (9, 2)


def test_sources_are_measured_apart_and_named_in_order() -> None:
    seen = figures([run(3, 1, source="b"), run(4, source="a"), run(5, 0, source="b")])

    assert [(each.source, each.runs, each.stops) for each in seen] == [("a", 1, 0), ("b", 2, 2)]
    assert [each.restart for each in seen] == [None, None]


def test_runs_without_a_label_are_counted_and_not_measured() -> None:
    assert figures([run(3, 1, success=None)]) == [
        Source(source="here", runs=1, stops=1, labeled=0, stop=None, restart=None)
    ]
    assert measured(run(3, 1, success=None), run(4)).failed_steps == 4


def test_rates_of_nothing_are_none_and_not_zero() -> None:
    seen = measured(run(3))

    assert (seen.false_stop_rate, seen.false_stop_interval, seen.recall["2"]) == (None, None, None)


@pytest.mark.parametrize(
    ("hits", "of", "low", "high"),
    [(0, 24, 0.0, 0.138), (0, 1576, 0.0, 0.0024), (5, 10, 0.237, 0.763), (10, 10, 0.722, 1.0)],
)
def test_the_interval_is_wilson_s(hits: int, of: int, low: float, high: float) -> None:
    assert interval(hits, of) == pytest.approx((low, high), abs=6e-4)
