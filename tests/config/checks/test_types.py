"""Errors about types and keys, in words that the author of the spec knows."""

from datetime import UTC, datetime
from typing import Any, Literal

import pytest

from tests.config.helpers import layers_of
from untilgreen.config.checks.types import check_known, check_plain, check_type, key_as_text
from untilgreen.config.sources.layers import Layers
from untilgreen.config.sources.toml_lines import Key
from untilgreen.errors import ConfigError


def finding(value: Any, kind: Any, path: Key = ("key",)) -> str:
    with pytest.raises(ConfigError) as caught:
        check_type(Layers(), path, value, kind)
    return str(caught.value)


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("x", str),
        (1, int),
        (1, float),
        (1.5, float),
        (True, bool),
        (None, str | None),
        ("x", str | dict[str, Any]),
        ({"use": 1}, str | dict[str, Any]),
        (["a", {}], list[str | dict[str, Any]]),
        ({"a": "b"}, dict[str, str]),
        ("best", Literal["best", "last"]),
        (["last"], list[Literal["best", "last"]]),
    ],
)
def test_what_fits_is_left_alone(value: Any, kind: Any) -> None:
    check_type(Layers(), ("key",), value, kind)


@pytest.mark.parametrize(
    ("value", "kind", "said"),
    [
        (5, str, "key = 5 must be text."),
        (True, str, "key = true must be text."),
        (True, int, "key = true must be a whole number."),
        (1.0, int, "key = 1.0 must be a whole number."),
        (False, float, "key = false must be a number."),
        ("yes", bool, "key = 'yes' must be true or false."),
        ([], str | dict[str, Any], "key = [] must be text or a table."),
        (True, float | str, "key = true must be a number or text."),
        ("x", list[str], "key = 'x' must be a list."),
        (5, str | None, "key = 5 must be text."),
        (["a", 5], list[str], "key (entry 2) = 5 must be text."),
        ({"a": "1", "b": 2}, dict[str, str], "key.b = 2 must be text."),
        ({"a b": 2}, dict[str, str], 'key."a b" = 2 must be text.'),
        ([["a"]], list[str | list[int]], "key (entry 1) (entry 1) = 'a' must be a whole number."),
        ("bets", Literal["best", "last"], "key can't be 'bets'. Did you mean 'best'?"),
        ("BEST", Literal["best", "last"], "key can't be 'BEST'. Did you mean 'best'?"),
        ("7", Literal["best", "last"], "key can't be '7'. Known: best, last."),
        (["best"], Literal["best", "last"], "key can't be ['best']. Did you mean 'best'?"),
    ],
)
def test_a_value_that_does_not_fit_is_described_in_plain_words(value: Any, kind: Any, said: str) -> None:
    assert finding(value, kind) == said


def test_a_long_value_is_shortened() -> None:
    assert len(finding("x" * 10_000, int)) < 150


def test_a_wrong_value_is_reported_with_its_source() -> None:
    layers = layers_of({"labels": {"a": 1}})

    with pytest.raises(ConfigError, match=r"^layer 1: labels\.a = 1 must be text\.$"):
        check_type(layers, ("labels",), layers.values["labels"], dict[str, str])


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (float("inf"), "labels.a = inf must be a finite number."),
        (float("nan"), "labels.a = nan must be a finite number."),
        (2**63, "labels.a is too large. Write a smaller number."),
        (-(10**400), "labels.a is too large. Write a smaller number."),
        (datetime(2026, 1, 1, tzinfo=UTC), "labels.a can't be a datetime. Write it as text or as a number."),
        (None, "labels.a can't be a NoneType. Write it as text or as a number."),
        ("\udcff", "labels.a has bytes that are not text. Write it as UTF-8."),
        ({"\udcff": 1}, "labels.a has bytes that are not text. Write it as UTF-8."),
        ({5: 1}, "labels.a has the key 5. A key must be text."),
        ([1, float("inf")], "labels.a (entry 2) = inf must be a finite number."),
    ],
)
def test_a_value_that_the_journal_could_not_give_back_is_refused(value: Any, said: str) -> None:
    layers = layers_of({"labels": {"a": value}})

    with pytest.raises(ConfigError) as caught:
        check_plain(layers, layers.values)
    assert str(caught.value) == f"layer 1: {said}"


def test_everything_else_is_plain() -> None:
    layers = layers_of({"a": [1, -(2**63) + 1, 2.5, True, "é"], "b": {"c": {}}})

    check_plain(layers, layers.values)


def test_an_unknown_key_is_answered_with_the_nearest() -> None:
    layers = layers_of({"limits": {"costs": 5}})

    with pytest.raises(ConfigError, match=r"^layer 1: there is no limit 'costs'\. Did you mean 'cost'\?$"):
        check_known(layers, ("limits",), layers.values["limits"], ("cost", "time"), "there is no limit")
    check_known(layers, ("limits",), {"cost": 1}, ("cost", "time"), "there is no limit")


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ((), "the spec"),
        (("limits", "cost"), "limits.cost"),
        (("agents", 0, "use"), "agents (entry 1).use"),
        (("gates", 'say "hi"', "run"), 'gates."say \\"hi\\"".run'),
        (("labels", "größe"), 'labels."größe"'),
    ],
)
def test_a_key_is_shown_as_it_is_written(path: Key, text: str) -> None:
    assert key_as_text(path) == text
