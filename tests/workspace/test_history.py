"""What was committed in between, in the words of whoever committed it."""

from pathlib import Path

import pytest

from tests.workspace.helpers import commit, git
from untilgreen.workspace.ground import find_ground
from untilgreen.workspace.history import History


@pytest.mark.parametrize(
    "subject", ["a\x0cpage", "two\u2028lines", "next\x85line", "\x1b[2Jgone", "--exec=id", "tab\there"]
)
async def test_a_commit_is_one_line_whatever_its_subject_is(repository: Path, subject: str) -> None:
    ground = await find_ground(repository)
    assert ground is not None
    commit(repository, "before")
    before = await History(ground).head()
    commit(repository, subject)

    (told,) = await History(ground).commits(before, await History(ground).head())

    short = git(repository, "rev-parse", "--short", "HEAD").strip()
    assert told == f"{short} {subject}"
