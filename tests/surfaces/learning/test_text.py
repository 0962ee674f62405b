"""What past runs have shown, in words."""

import pytest

from untilgreen.surfaces.json.lines import PastRuns
from untilgreen.surfaces.learning.text import past


@pytest.mark.parametrize(
    ("runs", "green", "by", "cost", "said"),
    [
        (31, 20, 4, None, "of 31 such runs here, 20 were green, half of them by lap 4"),
        (12, 1, 3, 0.4, "of 12 such runs here, 1 was green, by lap 3; a lap cost $0.40"),
        (1, 0, None, None, "of 1 such run here, none was green; too few to say much"),
    ],
)
def test_what_such_runs_took(runs: int, green: int, by: int | None, cost: float | None, said: str) -> None:
    found = PastRuns(agent="a", here=True, runs=runs, green=green, half_green_by=by, lap_cost=cost)

    assert past(found) == said
