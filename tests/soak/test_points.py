"""kill -9 at each of the 1,700 named points of all stories, which takes most of an hour.

`-k` names one story; each takes minutes.
"""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from tests.faults.killing import everywhere, unharmed
from tests.faults.stage import Story
from tests.faults.stories import STORIES
from untilgreen.core.loop.step import Step
from untilgreen.core.values.events import Event

pytestmark = pytest.mark.timeout(7200)
ONLY_WAITING = {"AwaitResume", "AwaitTurn", "Halt"}
"""Steps without an effect: they do nothing, or wait for a person at a terminal."""


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.name)
def test_a_story_that_is_killed_at_any_point_ends_as_if_nothing_had_happened(
    tmp_path: Path, story: Story
) -> None:
    known = unharmed(tmp_path / "unharmed", story)
    assert known.faults == []

    died, faults = everywhere(tmp_path, story, known.points, known)

    assert faults == []
    assert died == len(known.points)


def test_every_step_and_every_event_is_passed_by_some_story(tmp_path: Path) -> None:
    """Read from the types themselves, so that the test fails for a new one until a story has it."""
    wanted = {kind.__name__ for union in (Step, Event) for kind in get_args(union)} - ONLY_WAITING
    passed = {
        point.partition("#")[0].split(":", 2)[2]
        for number, story in enumerate(STORIES)
        for _, point in unharmed(tmp_path / str(number), story).points
        if point.startswith(("step:", "append:"))
    }

    assert wanted - passed == set()
