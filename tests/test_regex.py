"""Patterns that are compiled at their first use behave like those of `re.compile`."""

import re

import pytest

from untilgreen.regex import regex


def test_a_pattern_answers_as_a_compiled_one_does() -> None:
    lazy, compiled = (
        regex(r"(\d+)-(?P<end>\w)", re.IGNORECASE),
        re.compile(r"(\d+)-(?P<end>\w)", re.IGNORECASE),
    )
    text = "12-a and 7-B"

    assert [found.groupdict() for found in lazy.finditer(text)] == [{"end": "a"}, {"end": "B"}]
    assert lazy.sub("x", text) == compiled.sub("x", text) == "x and x"
    assert lazy.pattern == compiled.pattern


def test_bytes_are_matched_with_patterns_of_bytes() -> None:
    assert regex(rb"a+").findall(b"caat") == [b"aa"]


def test_a_wrong_pattern_is_found_at_its_first_use() -> None:
    wrong = regex("(")

    with pytest.raises(re.error):
        wrong.search("")


def test_an_attribute_that_no_pattern_has_is_refused() -> None:
    with pytest.raises(AttributeError, match="scanner"):
        regex("a").scanner("a")  # type: ignore[attr-defined]  # typeshed has no such method, either
