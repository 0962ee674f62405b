"""Options that make no sense are refused when they are written, with a sentence that says what would."""

import math
from typing import Any

import pytest
from msgspec import Struct

from untilgreen.core.options import at_least, share
from untilgreen.errors import ConfigError


class Mine(Struct, frozen=True, kw_only=True):
    """Somebody's detector."""

    laps: Any = 3
    floor: Any = 0.5


@pytest.mark.parametrize("value", [1, 1.0, 50, None])
def test_a_number_that_is_large_enough_or_not_given_is_taken(value: float | None) -> None:
    at_least(Mine(laps=value), 1, "laps")


@pytest.mark.parametrize("value", [0, -1, 0.5, math.inf, math.nan])
def test_a_number_that_is_too_small_or_none_at_all_is_refused(value: float) -> None:
    with pytest.raises(ConfigError, match=rf"^mine: laps = {value} must be at least 1\.$"):
        at_least(Mine(floor=1, laps=value), 1, "floor", "laps")


@pytest.mark.parametrize("value", [0.001, 0.5, 1])
def test_a_share_is_above_nothing_and_at_most_all(value: float) -> None:
    share(Mine(floor=value), "floor")


@pytest.mark.parametrize("value", [0, -0.5, 1.01, math.nan])
def test_what_is_no_share_is_refused(value: float) -> None:
    with pytest.raises(ConfigError, match=rf"^mine: floor = {value} must be above 0 and at most 1\.$"):
        share(Mine(floor=value), "floor")
