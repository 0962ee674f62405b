"""kill -9 at every named point of every story; an hour of a busy machine, minutes of a quiet one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.killing import everywhere, unharmed
from tests.faults.stage import Story
from tests.faults.stories import STORIES

pytestmark = pytest.mark.timeout(7200)


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.name)
def test_a_story_that_is_killed_at_any_point_ends_as_if_nothing_had_happened(
    tmp_path: Path, story: Story
) -> None:
    known = unharmed(tmp_path / "unharmed", story)
    assert known.faults == []

    died, faults = everywhere(tmp_path, story, known.points, known)

    assert faults == []
    assert died == len(known.points)
