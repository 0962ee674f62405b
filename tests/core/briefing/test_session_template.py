"""Placeholders are filled in one pass, and text inside a value is never taken for a placeholder."""

import pytest

from untilgreen.core.briefing.session_template import (
    MARK,
    PLACEHOLDERS,
    TEMPLATE,
    check_template,
    fill,
    missing_placeholders,
    with_head,
)
from untilgreen.errors import ConfigError


def test_values_are_never_scanned_again() -> None:
    values = {"PROMPT": "{{ITERATION}} $& {{PROMPT}} \\1", "ITERATION": "2"}

    assert fill("{{ITERATION}}: {{PROMPT}}", values) == "2: {{ITERATION}} $& {{PROMPT}} \\1"


def test_every_occurrence_is_filled_and_unknown_ones_stay() -> None:
    assert fill("{{MAX}} {{MAX}} {{OTHER}} {{max}}", {"MAX": "9"}) == "9 9 {{OTHER}} {{max}}"


def test_an_empty_value_takes_its_paragraph_along_and_no_other() -> None:
    assert fill("a\n\n{{NOTES}}\n\n{{PROMPT}}", {"NOTES": "", "PROMPT": "b\n\n\n\nc"}) == "a\n\nb\n\n\n\nc"


def test_the_built_in_template_has_every_placeholder_but_the_bare_promise() -> None:
    for name in set(PLACEHOLDERS) - {"PROMISE"}:
        assert f"{{{{{name}}}}}" in TEMPLATE


def test_the_built_in_template_says_to_continue_and_not_to_stop_before_it_is_done() -> None:
    lines = fill(TEMPLATE, dict.fromkeys(PLACEHOLDERS, "x")).splitlines()

    assert "- Review your progress so far, and continue from where you left off." in lines
    assert "- Do not stop until the task is truly done." in lines


def test_a_custom_template_is_checked() -> None:
    assert check_template("do {{PROMPT}}", "it") == "do {{PROMPT}}"
    with pytest.raises(ConfigError, match=r"it has an unknown placeholder 'PROMT'. Did you mean 'PROMPT'\?"):
        check_template("{{PROMT}}", "it")
    with pytest.raises(ConfigError, match="it does not contain the task"):
        check_template("go on", "it")


def test_a_custom_template_begins_with_the_mark_once() -> None:
    headed = with_head("do {{PROMPT}}")

    assert headed == f"{MARK} - ITERATION {{{{ITERATION}}}}/{{{{MAX}}}}]\n\ndo {{{{PROMPT}}}}"
    assert with_head(headed) == headed
    assert with_head(TEMPLATE) == TEMPLATE


@pytest.mark.parametrize(
    ("template", "missing"),
    [
        ("{{PROMPT}}", ("STATUS", "FAILING")),
        ("{{STATUS}} {{PROMPT}}", ("FAILING",)),
        ("{{PROMPT}} {{FAILING}}", ("STATUS",)),
        ("STATUS {{status}} {{FAILING}}", ("STATUS",)),
        (TEMPLATE, ()),
    ],
)
def test_a_template_that_does_not_show_how_the_last_lap_went_lacks_placeholders(
    template: str, missing: tuple[str, ...]
) -> None:
    assert missing_placeholders(template) == missing
