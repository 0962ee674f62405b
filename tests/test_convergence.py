"""`untilgreen.convergence` speaks like a convergence controller: it converges or diverges, and says why."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from tests.surfaces.cli.helpers import repository
from untilgreen import RunState, convergence
from untilgreen.convergence import ConvergenceResult


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return repository(tmp_path / "project", {"count": "0\n"})


def converge(
    project: Path, wanted: int, told: list[str] | None = None, **options: object
) -> ConvergenceResult:
    """Run a convergence whose builds count up by one until the gate passes."""

    async def build(task: str, root: Path) -> str:
        if told is not None:
            told.append(task)
        count = root / "count"
        count.write_text(f"{int(count.read_text()) + 1}\n")
        return f"counted to {count.read_text().strip()}"

    async def enough(root: Path) -> bool | str:
        count = int((root / "count").read_text())
        return True if count >= wanted else f"{wanted - count} missing"

    async def run() -> ConvergenceResult:
        return await convergence.converge(
            "count",
            on_build=build,
            on_gate_check={"enough": enough},
            directory=project,
            state_dir=project.parent / "state",
            **options,  # type: ignore[arg-type]
        )

    return anyio.run(run)


def test_it_converges_when_every_gate_passes(project: Path) -> None:
    result = converge(project, 3)

    assert (result.status, result.iterations, result.gate_results["enough"]) == ("converged", 3, True)
    assert "all required gates pass" in result.reason
    assert result.final_state.outcome == "converged"


def test_it_diverges_at_a_limit_and_says_which(project: Path) -> None:
    result = converge(project, 9, max_iterations=2)

    assert (result.status, result.iterations, result.gate_results["enough"]) == ("diverged", 2, False)
    assert "iterations" in result.reason


def test_it_diverges_when_its_strategy_gives_up(project: Path) -> None:
    result = converge(project, 9, strategy={"use": "fixed", "iterations": 2})

    assert (result.status, result.iterations) == ("diverged", 2)
    assert result.reason == "all 2 planned laps are used"


def test_feedback_is_what_the_next_build_is_given(project: Path) -> None:
    told: list[str] = []

    def feedback(state: RunState, usual: str) -> str:
        return f"lap {len(state.laps) + 1}: {'missing' in usual}"

    converge(project, 2, told, on_feedback=feedback)

    assert told == ["lap 1: True", "lap 2: True"]
