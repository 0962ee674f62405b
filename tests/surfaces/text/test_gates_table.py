"""The gates × laps picture."""

from tests.core.helpers import PASS, Run, gate, red
from untilgreen.core.strategies.fixed import Fixed
from untilgreen.surfaces.text.gates_table import gates_by_lap
from untilgreen.surfaces.text.safe_text import columns_of
from untilgreen.surfaces.text.sparkline import spark
from untilgreen.testing import story


def test_a_row_for_each_gate_and_a_column_for_each_lap() -> None:
    run = Run(gate("unit"), gate("洞窟"))
    run.lap(None, **{"unit": red("a", "b"), "洞窟": PASS})
    run.lap(None, **{"unit": red("a"), "洞窟": red("x")})

    assert gates_by_lap(run.state) == ("lap    1    2\nunit   ✕2   ✕1\n洞窟   ✓    ✕1\nscore  0.50 0.00")
    assert gates_by_lap(run.state, ascii_only=True) == (
        "lap    1    2\nunit   x2   x1\n洞窟   ok   x1\nscore  0.50 0.00"
    )


def test_laps_that_do_not_fit_are_counted() -> None:
    state = story("a", Fixed(iterations=20), detectors=[])

    drawn = gates_by_lap(state, width=40).splitlines()

    assert max(map(columns_of, drawn)) <= 40
    assert drawn[0].split()[-1] == "20"
    assert drawn[-1] == f"({20 - len(drawn[0].split()[1:])} earlier laps not shown)"


def test_before_any_lap_there_is_nothing_to_draw() -> None:
    assert gates_by_lap(Run().state) == "no lap has finished yet"


def test_scores_are_little_bars() -> None:
    assert spark([0.0, 0.5, 1.0]) == "▁▅█"
    assert spark([0.0, 0.5, 1.0], ascii_only=True) == "059"
