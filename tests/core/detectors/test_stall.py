"""Moving without getting anywhere."""

import pytest

from tests.core.helpers import PASS, Run, red
from untilgreen.core.detectors.stall import Stall
from untilgreen.core.values.limits import Limits
from untilgreen.core.values.model import Promise
from untilgreen.errors import ConfigError


def played(*laps: str, baseline: bool = False) -> Run:
    run = Run(baseline=baseline)
    for ids in laps:
        run.lap(tests=red(*ids))
    return run


def test_five_laps_without_a_new_best_are_a_nudge() -> None:
    signal = Stall().detect(played("abc", "ab", "abd", "ac", "bd", "cd", "ad").state)

    assert signal is not None
    assert (signal.kind, signal.strength, signal.laps, signal.confidence) == (
        "stall",
        "nudge",
        (3, 4, 5, 6, 7),
        0.7,
    )
    assert "for 5 laps" in signal.evidence
    assert "Try a different approach." in signal.advice


def test_four_laps_are_not_enough() -> None:
    assert Stall().detect(played("abc", "ab", "abd", "ac", "bd", "cd").state) is None


def test_a_new_best_ends_the_stall() -> None:
    assert Stall(laps=2).detect(played("ab", "bc", "cd").state) is not None
    assert Stall(laps=2).detect(played("ab", "bc", "cd", "a").state) is None


def test_the_stall_lasts_until_then() -> None:
    signal = Stall(laps=2).detect(played("ab", "bc", "cd", "de").state)

    assert signal is not None
    assert signal.laps == (2, 3, 4)


def test_a_run_that_never_beats_its_baseline_stalls_from_there() -> None:
    signal = Stall(laps=2).detect(played("a", "ab", "ac", baseline=True).state)

    assert signal is not None
    assert signal.laps == (1, 2)
    assert signal.evidence == "no improvement for 2 laps, since lap 0"


def test_before_the_first_lap_nothing_stalls() -> None:
    assert Stall(laps=1).detect(Run().state) is None


def test_options_that_make_no_sense_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"^stall: laps = 0 must be a whole number, at least 1\.$"):
        Stall(laps=0)


def test_a_long_stall_names_its_latest_laps_and_counts_all_of_them() -> None:
    run = Run(limits=Limits(iterations=100))
    for ids in ["ab", "cd", "ef", "gh"] * 20:
        run.lap(tests=red(*ids))

    signal = Stall().detect(run.state)

    assert signal is not None
    assert signal.laps == tuple(range(31, 81))
    assert signal.evidence == "no improvement for 79 laps, since lap 1"


def test_a_lap_that_lacks_only_the_claim_is_passed_over_on_the_way_back_to_the_best() -> None:
    run = Run(promise=Promise())
    for verdict in (PASS, red("a"), PASS, red("b"), red("c"), red("d"), red("e")):
        run.lap(tests=verdict)

    signal = Stall().detect(run.state)

    assert signal is not None
    assert signal.laps == (2, 4, 5, 6, 7)
    assert signal.evidence == "no improvement for 5 laps, since lap 1"
