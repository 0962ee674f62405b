"""What quiet styles print where every test passes is still counted: a pass must show its tests."""

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


@pytest.mark.parametrize("text", ["......    [ 50%]\n", ".....\nbuilt\n", "wait...\n", "."])
def test_dots_that_end_early_or_mean_something_else_show_none(text: str) -> None:
    assert recognize(text) is None
