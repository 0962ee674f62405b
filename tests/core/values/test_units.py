"""Durations, counts and money as people write them, and clear errors for anything else."""

from typing import Any

import pytest

from untilgreen.core.values.units import count, duration, money, several, show_duration, show_score
from untilgreen.errors import ConfigError


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        ("250ms", 0.25),
        ("90s", 90.0),
        ("30m", 1800.0),
        ("4h", 14_400.0),
        ("2d", 172_800.0),
        ("1h30m", 5400.0),
        ("1h 30m", 5400.0),
        ("1.5h", 5400.0),
        (" 30 M ", 1800.0),
        (90, 90.0),
        (0.5, 0.5),
    ],
)
def test_a_duration_is_read_as_people_write_it(written: float | str, seconds: float) -> None:
    assert duration(written) == pytest.approx(seconds)


@pytest.mark.parametrize("written", ["", "soon", "90", "4 hours", "1h30", "h", "-5m", "1h-30m", "5w"])
def test_an_invalid_duration_is_answered_with_an_example(written: str) -> None:
    with pytest.raises(
        ConfigError, match=r"^limits\.time = '.*' is not a valid duration\. Write it like '90s'"
    ):
        duration(written, "limits.time")


@pytest.mark.parametrize(
    ("written", "number"),
    [
        ("20", 20),
        (" 7 ", 7),
        ("200k", 200_000),
        ("2M", 2_000_000),
        ("1.5m", 1_500_000),
        ("1g", 10**9),
        (3, 3),
    ],
)
def test_a_count_is_read_as_people_write_it(written: float | str, number: int) -> None:
    read = count(written)

    assert read == number
    assert isinstance(read, int)


def test_a_whole_number_written_as_a_float_is_still_a_count() -> None:
    assert count(3.0) == 3


@pytest.mark.parametrize("written", ["", "many", "-3", "2x", "1e3", "k"])
def test_an_invalid_count_is_answered_with_an_example(written: str) -> None:
    with pytest.raises(ConfigError, match=r"^limits\.tokens = '.*' is not a valid count\. Write it like 20"):
        count(written, "limits.tokens")


def test_half_a_lap_is_not_a_count() -> None:
    with pytest.raises(ConfigError, match=r"^limits\.iterations = 2\.5 must be a whole number\.$"):
        count(2.5, "limits.iterations")


@pytest.mark.parametrize(
    ("written", "dollars"),
    [("$5", 5.0), ("$ 5", 5.0), ("5$", 5.0), ("2.50", 2.5), ("2.50usd", 2.5), ("3 USD", 3.0), (0.75, 0.75)],
)
def test_money_is_read_as_people_write_it(written: float | str, dollars: float) -> None:
    assert money(written) == pytest.approx(dollars)


@pytest.mark.parametrize("written", ["", "€5", "five", "$-5", "1,000"])
def test_an_invalid_amount_of_money_is_answered_with_an_example(written: str) -> None:
    with pytest.raises(
        ConfigError, match=r"^limits\.cost = '.*' is not a valid amount of money\. Write it like '\$5'"
    ):
        money(written, "limits.cost")


@pytest.mark.parametrize("read", [duration, count, money])
@pytest.mark.parametrize("written", [0, -1, "0"])
def test_nothing_and_less_than_nothing_are_refused_and_the_word_unlimited_is_named(
    read: type, written: int | str
) -> None:
    written = f"{written}s" if read is duration and isinstance(written, str) else written

    with pytest.raises(ConfigError, match=r"must be above zero\. .* write 'unlimited'\.$"):
        read(written)


@pytest.mark.parametrize("read", [duration, money])
@pytest.mark.parametrize("written", [float("inf"), float("nan")])
def test_infinity_is_refused_and_the_word_unlimited_is_named(read: type, written: float) -> None:
    with pytest.raises(ConfigError, match="unlimited"):
        read(written)


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0, "0s"),
        (0.5, "0.5s"),
        (3, "3s"),
        (9.75, "9.8s"),
        (42.4, "42s"),
        (60, "1m"),
        (90, "1m30s"),
        (3599.6, "1h"),
        (3600, "1h"),
        (5400, "1h30m"),
        (14_460, "4h01m"),
    ],
)
def test_a_duration_is_shown_as_a_person_would_write_it(seconds: float, shown: str) -> None:
    assert show_duration(seconds) == shown


@pytest.mark.parametrize("read", [duration, count, money])
@pytest.mark.parametrize("value", [float("inf"), float("-inf"), float("nan"), 10**400])
def test_infinity_and_its_like_are_refused_with_the_word_for_it(read: Any, value: float) -> None:
    with pytest.raises(ConfigError, match="unlimited"):
        read(value, "limits.x")


@pytest.mark.parametrize("written", ["0.5", "1.5", "0.0001k"])
def test_a_count_in_words_is_whole_too(written: str) -> None:
    with pytest.raises(ConfigError, match="must be a whole number"):
        count(written, "limits.iterations")


@pytest.mark.parametrize("written", [float("inf"), float("nan")])
def test_infinity_is_not_a_count(written: float) -> None:
    with pytest.raises(ConfigError, match="unlimited"):
        count(written)


@pytest.mark.parametrize(
    ("count", "shown"), [(0, "0 laps"), (1, "1 lap"), (2, "2 laps"), (1200, "1,200 laps")]
)
def test_a_number_of_things_is_written_as_a_person_would(count: int, shown: str) -> None:
    assert several(count, "lap") == shown


@pytest.mark.parametrize(
    ("score", "shown"),
    [(0.0, "0.00"), (2 / 3, "0.67"), (1071 / 1072, "0.99"), (0.999, "0.99"), (1.0, "1.00")],
)
def test_only_a_whole_score_is_shown_as_1(score: float, shown: str) -> None:
    assert show_score(score) == shown
