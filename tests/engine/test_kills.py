"""A driver that is killed with SIGKILL at moments spread over a real run; `make bench` does it 100 times."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
KILLS, SEED = 8, 20


def test_a_run_that_is_killed_again_and_again_ends_as_if_nothing_had_happened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(ROOT)
    from bench.kills import faults_of, play

    unbroken, broken = play(tmp_path, KILLS, SEED)

    assert (unbroken.trouble, unbroken.outcome, unbroken.files()) == ([], "converged", {"counter.txt": "3\n"})
    assert faults_of(unbroken, unbroken) == []
    assert {run.folder.name: faults_of(run, unbroken) for run in broken} == {
        run.folder.name: [] for run in broken
    }
    assert sum(len(run.died_after) for run in broken) == KILLS
