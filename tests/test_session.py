"""`untilgreen.session`: the functions with which programs loop inside a session."""

from pathlib import Path

import pytest

from tests.surfaces.cli.helpers import repository
from untilgreen import session
from untilgreen.errors import UserError


def test_a_loop_is_started_looked_at_and_cancelled(tmp_path: Path) -> None:
    project, state = repository(tmp_path / "project", {"a.txt": "a\n"}), tmp_path / "state"
    brief = session.start(
        "id-1",
        "Refactor it",
        agent="claude",
        max_iterations=50,
        completion_promise="REFACTORED",
        description="the database layer",
        gates={"tests": "false"},
        directory=project,
        state_dir=state,
    )
    assert brief.startswith("[UNTILGREEN LOOP - ITERATION 1/50]")

    found = session.state("id-1", state_dir=state)
    assert found is not None
    assert (found.active, found.iteration, found.max_iterations) == (True, 1, 50)
    assert (found.completion_promise, found.prompt) == ("REFACTORED", "Refactor it")
    assert (found.session_id, found.description) == ("id-1", "the database layer")
    assert (session.is_active("id-1", state_dir=state), session.is_active("id-2", state_dir=state)) == (
        True,
        False,
    )
    assert not session.cancel("id-2", state_dir=state)
    assert session.cancel("id-1", state_dir=state)
    assert session.state("id-1", state_dir=state) is None


def test_a_start_without_a_session_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="none was named"):
        session.start(" ", "x", agent="claude", directory=tmp_path, state_dir=tmp_path / "state")


def test_the_state_without_an_id_is_that_of_the_directory(tmp_path: Path) -> None:
    project, state = tmp_path / "project", tmp_path / "state"
    (project / "deep").mkdir(parents=True)
    assert session.state(directory=project, state_dir=state) is None

    session.start(
        "id-2", "Fix it", agent="claude", gates={"tests": "false"}, directory=project, state_dir=state
    )

    found = session.state(directory=project, state_dir=state)
    assert found is not None
    assert (found.session_id, found.prompt) == ("id-2", "Fix it")
    assert session.state(directory=tmp_path, state_dir=state) is None
