"""The long versions of races and floods."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.floods import flooded
from tests.faults.races import meet, race

pytestmark = pytest.mark.timeout(7200)


def test_of_two_that_resume_a_run_exactly_one_drives_two_hundred_times(tmp_path: Path) -> None:
    assert race(tmp_path, times=200, at_once=2) == []


def test_commands_sent_at_the_same_time_are_done_or_refused_fifty_times(
    tmp_path: Path,
) -> None:
    assert meet(tmp_path, times=50) == []


def test_a_gigabyte_on_one_line_costs_no_memory_and_does_no_harm(tmp_path: Path) -> None:
    assert flooded(tmp_path, 1_000_000_000) == []
