"""Our environment variables are read again only when they have changed."""

import os

import pytest

from untilgreen.process.environment import own_variables, secrets_in


def test_our_variables_are_those_of_this_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    before = own_variables()
    monkeypatch.setenv("UNTILGREEN_TEST_COLOR", "red")
    changed = own_variables()
    monkeypatch.setenv("UNTILGREEN_TEST_COLOR", "green")

    assert "UNTILGREEN_TEST_COLOR" not in before
    assert changed["UNTILGREEN_TEST_COLOR"] == "red"
    assert own_variables() == dict(os.environ)
    assert own_variables()["UNTILGREEN_TEST_COLOR"] == "green"


def test_variables_that_have_not_changed_are_not_read_again() -> None:
    assert own_variables() is own_variables()


def test_a_secret_that_changed_is_cut_out_and_the_one_before_no_longer_is() -> None:
    variables = {"API_TOKEN": "hunter2-hunter2"}
    assert secrets_in(variables).redact("hunter2-hunter2") == "[API_TOKEN redacted]"

    variables["API_TOKEN"] = "another-secret"

    assert secrets_in(variables).redact("another-secret hunter2-hunter2") == (
        "[API_TOKEN redacted] hunter2-hunter2"
    )
    assert secrets_in(dict(variables)) is secrets_in(variables)
