"""Options that make no sense are refused when they are set, with a sentence that says what is allowed."""

import math
from typing import Annotated, Any, Literal

import pytest
from msgspec import Meta, Struct

from untilgreen.core.values.option_checks import (
    DURATION,
    FromOne,
    FromTwo,
    Share,
    about,
    check_options,
    description_of,
    kinds_of,
    misfit,
    type_in_words,
    unit_of,
)
from untilgreen.errors import ConfigError


class Mine(Struct, frozen=True, kw_only=True):
    """A plugin's options."""

    laps: Annotated[FromOne | None, about("How many laps.")] = 3
    floor: Annotated[Share, about("The lowest share.")] = 0.5
    pause: Annotated[float | str, about("How long to wait.", DURATION)] = 1.0


@pytest.mark.parametrize("value", [1, 50, None])
def test_a_number_that_is_large_enough_or_not_set_is_accepted(value: int | None) -> None:
    check_options(Mine(laps=value))


@pytest.mark.parametrize("value", [0, -1])
def test_a_number_that_is_too_small_is_refused(value: int) -> None:
    with pytest.raises(ConfigError, match=rf"^mine: laps = {value} must be a whole number, at least 1\.$"):
        check_options(Mine(laps=value))


@pytest.mark.parametrize("value", [0.001, 0.5, 1])
def test_a_share_is_above_zero_and_at_most_one(value: float) -> None:
    check_options(Mine(floor=value))


@pytest.mark.parametrize("value", [0, -0.5, 1.01])
def test_a_number_that_is_not_a_share_is_refused(value: float) -> None:
    with pytest.raises(
        ConfigError, match=rf"^mine: floor = {value} must be a number above 0 and at most 1\.$"
    ):
        check_options(Mine(floor=value))


@pytest.mark.parametrize("value", [math.inf, math.nan])
def test_infinity_is_refused_everywhere(value: float) -> None:
    with pytest.raises(ConfigError, match=rf"^mine: floor = {value} must be a finite number\.$"):
        check_options(Mine(floor=value))


@pytest.mark.parametrize(
    ("value", "kind", "wrong"),
    [
        ("x", int, "= 'x' must be a whole number."),
        (True, FromTwo, "= true must be a whole number, at least 2."),
        (3, str | dict[str, Any] | None, "= 3 must be text or a table."),
        (300, Annotated[int, Meta(ge=0, le=255)], "= 300 must be a whole number from 0 to 255."),
        ("bset", Literal["best", "last"], "can't be 'bset'. Did you mean 'best'?"),
        ("best", Literal["best", "last"], ""),
        ([1], list[int], ""),
        (1, list[int], "= 1 must be a list."),
    ],
)
def test_a_value_of_another_type_is_described_in_plain_words(value: Any, kind: Any, wrong: str) -> None:
    assert misfit(value, kind) == wrong


def test_a_field_says_what_it_is_for_and_its_unit() -> None:
    kinds = kinds_of(Mine)

    assert description_of(kinds["pause"]) == "How long to wait."
    assert (unit_of(kinds["pause"]), unit_of(kinds["laps"])) == (DURATION, "")
    assert type_in_words(kinds["pause"]) == "a number or text"
