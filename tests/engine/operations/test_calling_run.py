"""The run that a command comes from is found through its ancestors, whatever its own environment says."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from untilgreen.engine.store.folder_record import FolderRecord
from untilgreen.engine.store.lock import hold, this_process
from untilgreen.engine.store.runs import Store

ASK = """
import sys
from pathlib import Path
from untilgreen.engine.operations.calling_run import started_by
print(started_by(Path(sys.argv[1])))
"""
# `exit $?` keeps the shell as Python's parent; without it, the shell would become Python.
SHELL = '"$0" -c "$1" "$2"; exit $?'


@pytest.fixture
def run(tmp_path: Path) -> FolderRecord:
    return Store(tmp_path / "state").create(1_785_000_000.0, workspace=tmp_path)


def found_by_grandchild(state_dir: Path, mark: str = "") -> str:
    """What a process without a mark finds, whose parent was started with this one."""
    shell = f"unset UNTILGREEN_INSIDE; {SHELL}"
    done = subprocess.run(
        ["sh", "-c", shell, sys.executable, ASK, str(state_dir)],
        env={**os.environ, "UNTILGREEN_INSIDE": mark},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def test_a_mark_that_was_taken_away_shows_in_the_process_that_did_it(run: FolderRecord) -> None:
    assert found_by_grandchild(run.path.parents[1], run.id) == run.id


def test_the_driver_of_a_run_shows_without_any_mark(run: FolderRecord) -> None:
    with hold(run.lock, run=run.id, driver=this_process(0.0)):
        assert found_by_grandchild(run.path.parents[1]) == run.id


def test_runs_in_another_state_directory_are_not_found(run: FolderRecord, tmp_path: Path) -> None:
    """A test suite that runs as a gate has its own runs, in its own state directory."""
    with hold(run.lock, run=run.id, driver=this_process(0.0)):
        assert found_by_grandchild(tmp_path / "elsewhere", run.id) == "None"


@pytest.mark.parametrize("mark", ["", "1", "../..", "2phv000xx"])
def test_a_mark_that_names_no_run_is_ignored(run: FolderRecord, mark: str) -> None:
    assert found_by_grandchild(run.path.parents[1], mark) == "None"
