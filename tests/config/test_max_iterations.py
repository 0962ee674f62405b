"""`--max-iterations`: one number for the limit and for the strategy's own ceiling."""

from pathlib import Path
from typing import Any

import pytest

from tests.config.helpers import finding, loaded


@pytest.mark.parametrize(
    ("strategy", "most", "options"),
    [
        ("'fixed'", "12", {"iterations": 12}),
        ("{ use = 'fixed', iterations = 2 }", "12", {"iterations": 12}),
        ("'ralph'", "12", {"max": 12}),
        ("{ use = 'ralph', min = 3 }", "12", {"min": 3, "max": 12}),
        ("'hybrid'", "30", {"bonus": 22}),
        ("'hybrid'", "8", {"bonus": 0}),
        ("'hybrid'", "5", {"base": 5, "bonus": 0}),
        ("{ use = 'hybrid', base = 3, min_gain = 0.2 }", "10", {"base": 3, "min_gain": 0.2, "bonus": 7}),
        ("{ base = 3 }", "10", {"base": 3, "bonus": 7}),
        ("{ use = 'hybrid', base = 'x' }", "10", {"base": "x"}),
        ("'adaptive'", "12", {}),
        ("'manual'", "12", {}),
        ("'./rules.py:Patient'", "12", {}),
        ("{ use = './rules.py:Patient', patience = 3 }", "12", {"patience": 3}),
        ("'fixed'", "2k", {"iterations": 2000}),
    ],
)
def test_the_limit_and_the_strategy_get_the_same_number(
    tmp_path: Path, strategy: str, most: str, options: dict[str, Any]
) -> None:
    spec = loaded(tmp_path, f"strategy = {strategy}\n", max_iterations=most).spec

    assert spec.strategy.options == options
    assert spec.limits.iterations == (2000 if most == "2k" else int(most))


def test_the_default_strategy_is_filled_up_too(tmp_path: Path) -> None:
    spec = loaded(tmp_path, "", max_iterations="9").spec

    assert (spec.strategy.name, spec.strategy.options) == ("hybrid", {"bonus": 1})


@pytest.mark.parametrize(
    ("written", "flag"),
    [("strategy = {0}\n", "unlimited"), ("strategy = {0}\n[limits]\niterations = 'unlimited'\n", None)],
)
@pytest.mark.parametrize(
    ("strategy", "options"),
    [
        ("'fixed'", {"iterations": "unlimited"}),
        ("'ralph'", {"max": "unlimited"}),
        ("'hybrid'", {"bonus": "unlimited"}),
        ("{ base = 3 }", {"base": 3, "bonus": "unlimited"}),
        ("{ use = 'fixed', iterations = 5 }", {"iterations": 5}),
        ("'adaptive'", {}),
        ("'./rules.py:Patient'", {}),
    ],
)
def test_unlimited_laps_lift_the_strategys_own_maximum_unless_that_was_set(
    tmp_path: Path, strategy: str, options: dict[str, Any], written: str, flag: str | None
) -> None:
    spec = loaded(tmp_path, written.format(strategy), max_iterations=flag).spec

    assert spec.limits.iterations is None
    assert spec.strategy.options == options


@pytest.mark.parametrize("most", ["0", "-1", "many", "2.5", "true", "[]", "inf", ""])
def test_an_invalid_number_of_laps_is_reported_with_the_flag(tmp_path: Path, most: str) -> None:
    assert finding(tmp_path, "strategy = 'fixed'\n", max_iterations=most).startswith(
        "--max-iterations: limits.iterations = "
    )


def test_set_sets_each_alone(tmp_path: Path) -> None:
    limit = loaded(tmp_path, "strategy = 'fixed'\n", max_iterations="9", sets=["limits.iterations=5"]).spec
    option = loaded(tmp_path, "strategy = 'fixed'\n", max_iterations="9", sets=["strategy.iterations=5"]).spec
    base = loaded(tmp_path, "", max_iterations="9", sets=["strategy.base=20"]).spec

    assert (limit.limits.iterations, limit.strategy.options) == (5, {"iterations": 9})
    assert (option.limits.iterations, option.strategy.options) == (9, {"iterations": 5})
    assert (base.limits.iterations, base.strategy.options) == (9, {"base": 20, "bonus": 0})


def test_the_strategy_that_is_bounded_is_the_one_that_holds(tmp_path: Path) -> None:
    by_set = loaded(tmp_path, "", max_iterations="9", sets=["strategy=fixed"]).spec
    by_flag = loaded(tmp_path, "", max_iterations="9", flags={"strategy": "ralph"}).spec

    assert (by_set.strategy.name, by_set.strategy.options) == ("fixed", {"iterations": 9})
    assert (by_flag.strategy.name, by_flag.strategy.options) == ("ralph", {"max": 9})


@pytest.mark.parametrize("strategy", ["5", "{ use = 5 }", "{ use = ['fixed'] }"])
def test_an_invalid_strategy_is_reported_as_usual(tmp_path: Path, strategy: str) -> None:
    assert finding(tmp_path, f"strategy = {strategy}\n", max_iterations="9").startswith(
        "untilgreen.toml, line 1: strategy"
    )


def test_the_flag_is_the_source_of_what_it_set(tmp_path: Path) -> None:
    layers = loaded(tmp_path, "strategy = 'fixed'\nlimits.iterations = 3\n", max_iterations="9").layers

    assert {path: source.name for path, _, source in layers.leaves() if source} == {
        ("strategy", "use"): "untilgreen.toml",
        ("strategy", "iterations"): "--max-iterations",
        ("limits", "iterations"): "--max-iterations",
    }
