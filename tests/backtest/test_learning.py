"""Replaying recorded runs in order with a strategy that learns from the earlier ones."""

from pathlib import Path
from typing import Any

from tests.backtest.helpers import record, steps, write
from untilgreen.backtest.learning import EVERY, play_learning
from untilgreen.core.learning.estimate import Prior
from untilgreen.core.strategies.adaptive import Adaptive

PRIOR = Prior(version="test", intercept=-2.0, weights=(-1.0, -1.0, -1.0, 1.0))
CIRCLES = "abababababab"


def hopeless(number: int, agent: str = "weak") -> dict[str, Any]:
    return record("s", f"{agent}-{number}", steps=steps(CIRCLES), success=False, agent=agent)


def stops(path: Path, **options: Any) -> list[int | None]:
    strategy = Adaptive(prior=PRIOR, **{"explore": 0.0, **options})
    return [each.decision.stop for each in play_learning(path, (), strategy, lambda _: None)]


def test_the_first_runs_of_an_agent_are_hybrid_s_and_the_later_ones_its_own(tmp_path: Path) -> None:
    path = write(tmp_path / "runs.jsonl", *(hopeless(number) for number in range(3 * EVERY)))

    found = stops(path)

    assert set(found[:EVERY]) == {7}
    assert set(found[EVERY:]) <= set(range(1, 7))


def test_agents_are_learned_about_one_by_one(tmp_path: Path) -> None:
    weak = [hopeless(number) for number in range(2 * EVERY)]
    path = write(tmp_path / "runs.jsonl", *weak, hopeless(0, "other"))

    assert stops(path)[-1] == 7


def test_a_run_that_explores_continues_as_long_as_hybrid_would(tmp_path: Path) -> None:
    path = write(tmp_path / "runs.jsonl", *(hopeless(number) for number in range(2 * EVERY)))

    assert set(stops(path)[EVERY:]) <= set(range(7))
    assert set(stops(path, explore=1.0)[EVERY:]) == {7}


def test_what_a_run_teaches_ends_where_it_was_ended(tmp_path: Path) -> None:
    """A success after the point where a run was ended is never seen, so nothing is learned from it."""
    late = [{**hopeless(number), "success": True} for number in range(2 * EVERY)]

    assert stops(write(tmp_path / "runs.jsonl", *late)) == stops(
        write(tmp_path / "bad.jsonl", *(hopeless(number) for number in range(2 * EVERY)))
    )
