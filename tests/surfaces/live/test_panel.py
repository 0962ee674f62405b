"""The lines of the live view: short names of findings."""

import pytest

from untilgreen.surfaces.live.panel import finding_name


@pytest.mark.parametrize(
    ("failing", "name"),
    [
        ("tests: test_cart.CartTest.test_total", "test_total"),
        ("tests: tests/test_cart.py::test_total[1.5]", "test_total[1.5]"),
        ("style: cart.py: a print was left in", "cart.py: a print was left in"),
        ("lint: src/a.py", "src/a.py"),
        ("tests: exit 1", "exit 1"),
        ("a", "a"),
    ],
)
def test_a_finding_is_shown_by_the_part_that_tells_it_apart(failing: str, name: str) -> None:
    assert finding_name(failing) == name
