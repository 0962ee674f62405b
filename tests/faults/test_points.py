"""kill -9 at some named points of a real run; `make soak` kills at every point."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.faults.killing import killed, unharmed
from tests.faults.stage import Stage
from tests.faults.stories import ENDING, IN_PLACE, SESSION
from untilgreen.crash_points import CRASH_AT

TWICE = f"""
import os
from untilgreen.crash_points import passing
passing("a", "before", "b")
passing("a", "before", "b")
print(os.environ.get("{CRASH_AT}"))
"""


def told(armed: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a process that passes a point twice, and then prints what its children would inherit."""
    env = {**os.environ, CRASH_AT: armed}
    return subprocess.run(
        [sys.executable, "-c", TWICE], env=env, cwd=folder, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    ("armed", "code"),
    [("", 0), ("a:before:b#1", -9), ("a:before:b#2", -9), ("a:before:b#3", 0), ("a:before:b", 0)],
)
def test_a_process_dies_at_its_point_and_nowhere_else(tmp_path: Path, armed: str, code: int) -> None:
    done = told(armed, tmp_path)

    assert (done.returncode, done.stdout) == (code, "" if code else "None\n")


def test_points_can_be_listed(tmp_path: Path) -> None:
    assert told("list:points", tmp_path).stdout == "None\n"
    assert (tmp_path / "points").read_text() == "a:before:b#1\na:before:b#2\n"


def test_a_run_whose_drivers_die_at_every_kind_of_point_ends_as_if_nothing_had_happened(
    tmp_path: Path,
) -> None:
    """One run and one driver after another, each killed at the first point of its kind."""
    known = unharmed(tmp_path / "unharmed", IN_PLACE)
    assert known.faults == []
    assert known.ending["runs"][0][0] == "converged"
    points = [
        "append:after:RunStarted#1",
        "append:after:Attached#1",
        "ref:after:create#1",
        "append:before:SnapshotTaken#1",
        "append:before:GateChecked#1",
        "step:before:Work#1",
        "process:before:begins#1",
        "process:after:begins#1",
        "append:before:TurnEnded#1",
        "append:before:RunFinished#1",
    ]
    assert set(points) <= {point for _, point in known.points}

    died, faults = killed(tmp_path / "killed", IN_PLACE, known, 0, *points)

    assert faults == []
    assert died == points


def test_a_session_whose_start_and_whose_last_hook_die_ends_as_if_nothing_had_happened(
    tmp_path: Path,
) -> None:
    """The start is killed before it did anything, the last hook when only the run's end was missing."""
    stage = Stage(tmp_path / "killed", SESSION)

    start, *laps, last, _, _ = SESSION.acts
    died = stage.finish(start, "put:after:sessions#1")
    for act in laps:
        stage.finish(act)
    died += stage.finish(last, "append:before:RunFinished#1")

    assert died == ["put:after:sessions#1", "append:before:RunFinished#1"]
    assert [outcome for outcome, _ in stage.ending()["runs"]] == ["converged"]
    assert stage.faults({"sessions": False}) == []


def test_a_cancel_that_was_killed_midway_is_finished_by_the_same_command(tmp_path: Path) -> None:
    begin, cancel = ENDING.acts[:2]
    stage = Stage(tmp_path / "killed", ENDING)
    stage.finish(begin)

    assert stage.finish(cancel, "append:before:Attached#1") == ["append:before:Attached#1"]

    assert (stage.codes[-1], stage.ending()["runs"][0][0]) == (0, "cancelled")
    assert stage.faults({}) == []
