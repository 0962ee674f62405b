"""Journals of every published format stay here forever: an old run still opens."""

from pathlib import Path

import pytest

from untilgreen.core.loop.fold import fold
from untilgreen.journal.file import FileJournal

V1 = Path(__file__).parents[1] / "journals" / "v1"


@pytest.mark.parametrize(
    ("name", "outcome", "laps", "head"),
    [
        ("ralph", "converged", 3, "065d048752c836a6f3894a0da7d5b2f3"),
        ("fixed", "stuck", 7, "0309e314dc78ef7fddb3c13790772a70"),
    ],
)
async def test_a_journal_of_format_1_still_opens(name: str, outcome: str, laps: int, head: str) -> None:
    journal = FileJournal(V1 / f"{name}.jsonl")

    state = fold(await journal.events())

    assert state is not None
    assert (state.outcome, len(state.laps), journal.head) == (outcome, laps, head)


async def test_a_stuck_run_of_format_1_still_tells_what_was_tried() -> None:
    state = fold(await FileJournal(V1 / "fixed.jsonl").events())

    assert state is not None
    assert state.tried == ("hint", "fresh", "best", "switch")
    assert state.reason == "cycle in laps 5, 6, 7: the same failures, 3 times: tests: a"


def test_every_journal_is_looked_at() -> None:
    assert sorted(path.name for path in V1.iterdir()) == ["fixed.jsonl", "ralph.jsonl"]
