"""Saying that it is done when it is not."""

import pytest

from tests.core.helpers import PASS, Run, Turn, red
from untilgreen.core.detectors.claims import Claims
from untilgreen.core.values.model import Promise
from untilgreen.errors import ConfigError


def played(*laps: tuple[bool, str]) -> Run:
    """A run of laps, each with its claim and what still fails; the trees differ, so nothing else repeats."""
    run = Run(promise=Promise())
    for claim, ids in laps:
        run.lap(Turn(claim=claim), tests=red(*ids) if ids else PASS)
    return run


def test_three_false_claims_without_an_improvement_are_stuck() -> None:
    run = played((True, "ab"), (False, "bc"), (True, "cd"), (True, "de"))

    signal = Claims().detect(run.state)

    assert signal is not None
    assert (signal.kind, signal.strength, signal.laps, signal.confidence) == (
        "claims",
        "stuck",
        (1, 3, 4),
        0.95,
    )
    assert signal.evidence == "3 claims that it is done, each while gates were red"
    assert "Run the gates before you claim." in signal.advice


def test_two_are_not() -> None:
    assert Claims().detect(played((True, "a"), (True, "b")).state) is None


def test_an_improvement_forgives_the_earlier_ones() -> None:
    run = played((True, "abc"), (True, "abc"), (True, "ab"), (True, "ab"), (True, "ac"))

    assert Claims().detect(run.state) is None


def test_a_lap_that_does_not_claim_is_not_held_against_it() -> None:
    run = played((True, "a"), (True, "b"), (True, "c"), (False, "d"))

    assert Claims().detect(run.state) is None


def test_green_laps_that_lack_the_claim_are_not_false_claims() -> None:
    run = played((True, "a"), (False, ""), (False, ""), (False, ""))

    assert Claims(rejected=1).detect(run.state) is None


def test_how_often_can_be_chosen() -> None:
    signal = Claims(rejected=1).detect(played((True, "a")).state)

    assert signal is not None
    assert signal.laps == (1,)


def test_before_the_first_lap_nobody_claimed() -> None:
    assert Claims().detect(Run().state) is None


def test_options_that_make_no_sense_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"^claims: rejected = 0 must be a whole number, at least 1\.$"):
        Claims(rejected=0)
