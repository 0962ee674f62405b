"""Passing tests are counted in quiet styles too: a pass must show its tests."""

import pytest

from untilgreen.gates.output.recognize import recognize


@pytest.mark.parametrize(
    ("text", "tool", "passed"),
    [
        ("...                                                                      [100%]\n", "pytest", 3),
        (f"{'.' * 72} [ 90%]\n.....s..                          [100%]\n", "pytest", 79),
        ("....\n", "node", 4),
        ("....................\n.....\n", "node", 25),
    ],
    ids=["pytest -qq", "pytest -qq, two lines", "node's dot", "node's dot, two lines"],
)
def test_a_quiet_style_shows_its_tests(text: str, tool: str, passed: int) -> None:
    seen = recognize(text)

    assert seen is not None
    assert (seen.tool, seen.passed, seen.failed) == (tool, passed, 0)


@pytest.mark.parametrize(
    "text", [".....\nbuilt\n", "wait...\n", ".", "....", f"{'.' * 25}\n...\n", f"{'.' * 25}\n"]
)
def test_dots_that_end_early_or_mean_something_else_show_none(text: str) -> None:
    """They may come from other runners, which died in the middle of a row or print longer rows than node."""
    assert recognize(text) is None


@pytest.mark.parametrize("text", ["......    [ 50%]\n", f"{'.' * 72} [ 90%]\n..."])
def test_rows_of_pytest_that_end_before_the_last_one_are_not_green(text: str) -> None:
    seen = recognize(text)

    assert seen is not None
    assert (seen.tool, seen.failed, seen.findings[0].message) == (
        "pytest",
        1,
        "pytest ended here, before it reported its results.",
    )
