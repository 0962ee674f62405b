"""How far a run has come, how fast it moves, and when it might be done."""

import pytest

from tests.core.helpers import PASS, SKIP, Run, gate, red
from untilgreen.core.scoring.progress import Progress, progress, slope
from untilgreen.core.values.model import Promise, Verdict


def played(*laps: Verdict, baseline: bool = False) -> Run:
    run = Run(baseline=baseline)
    for verdict in laps:
        run.lap(tests=verdict)
    return run


def test_before_the_first_lap_nothing_is_known() -> None:
    nothing = Progress(
        score=0.0,
        previous=None,
        gain=0.0,
        fixed=(),
        broken=(),
        new=(),
        still=(),
        velocity=None,
        trend="unknown",
        laps_left=None,
    )

    seen = progress(Run().state)

    assert seen.overall == nothing
    assert seen.gates == {"tests": nothing}
    assert (seen.passed, seen.total) == (0, 1)


def test_one_lap_gives_a_score_and_no_trend() -> None:
    overall = progress(played(red("a", score=0.4)).state).overall

    assert (overall.score, overall.previous, overall.gain) == (0.4, None, 0.0)
    assert (overall.velocity, overall.trend, overall.laps_left) == (None, "unknown", None)
    assert (overall.new, overall.still) == ((), ("tests: a",))


def test_a_lap_is_compared_with_the_one_before_and_with_all_before() -> None:
    overall = progress(
        played(red(*"abc", score=0.7), red(*"bcd", score=0.4), red(*"ade", score=0.5)).state
    ).overall

    assert overall.score == 0.5
    assert overall.previous == 0.4
    assert overall.gain == pytest.approx(-0.2)
    assert overall.fixed == ("tests: b", "tests: c")
    assert overall.broken == ("tests: a",)
    assert overall.new == ("tests: e",)
    assert overall.still == ("tests: d",)


def test_the_baseline_is_where_progress_starts() -> None:
    overall = progress(played(red("a", "b", score=0.0), red("b", score=0.5), baseline=True).state).overall

    assert overall.previous == 0.0
    assert overall.gain == 0.5
    assert overall.fixed == ("tests: a",)


@pytest.mark.parametrize(
    ("scores", "trend", "velocity", "laps_left"),
    [
        ([0.0, 0.25, 0.5], "improving", 0.25, 2),
        ([0.5, 0.5, 0.5], "stagnant", 0.0, None),
        ([0.5, 0.54], "stagnant", 0.04, 12),
        ([0.5, 0.56], "improving", 0.06, 8),
        ([0.9, 0.5, 0.1], "regressing", -0.4, None),
        ([0.5, 0.46], "stagnant", -0.04, None),
        ([0.5, 0.44], "regressing", -0.06, None),
        ([0.0, 0.2, 0.4, 0.6, 0.1], "improving", 0.2, 5),
    ],
)
def test_velocity_is_a_slope_that_one_odd_lap_can_not_turn(
    scores: list[float], trend: str, velocity: float, laps_left: int | None
) -> None:
    overall = progress(played(*(red("a", score=score) for score in scores)).state).overall

    assert overall.velocity == pytest.approx(velocity)
    assert overall.trend == trend
    assert overall.laps_left == laps_left


def test_velocity_looks_at_the_latest_laps_only() -> None:
    scores = [0.9, 0.8, 0.7, 0.6, 0.5, 0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7]

    overall = progress(played(*(red("a", score=score) for score in scores)).state).overall

    assert overall.velocity == pytest.approx(0.1)


def test_a_run_that_is_there_has_no_laps_left() -> None:
    overall = progress(played(red("a", score=0.5), PASS).state).overall

    assert (overall.score, overall.laps_left) == (1.0, 0)


def test_each_gate_has_its_own_progress_and_a_skip_tells_nothing() -> None:
    run = Run(gate("lint"), gate("tests", stage=2), gate("style", required=False), promise=Promise())
    run.lap(lint=red("x"), style=SKIP)
    run.lap(lint=PASS, tests=red("a", "b", score=0.2), style=red("s"))
    run.lap(lint=PASS, tests=red("a", score=0.6), style=SKIP)

    seen = progress(run.state)

    assert (seen.passed, seen.total) == (1, 2)  # the promise is not one of the user's gates
    assert set(seen.gates) == {"lint", "tests", "style", "claim"}
    assert seen.gates["lint"].score == 1.0
    assert (seen.gates["tests"].previous, seen.gates["tests"].fixed) == (0.2, ("tests: b",))
    assert (seen.gates["style"].score, seen.gates["style"].previous) == (0.0, None)
    assert seen.gates["claim"].trend == "unknown"
    assert seen.overall.score == pytest.approx(0.8)


def test_two_points_make_a_slope_and_one_does_not() -> None:
    assert slope([]) is None
    assert slope([0.5]) is None
    assert slope([0.5, 0.75]) == 0.25
