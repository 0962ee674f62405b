"""The commit of HEAD, and the commits made in between with their subjects unchanged."""

import os
from pathlib import Path

import pytest

from tests.workspace.helpers import commit, git
from untilgreen.workspace.git.head import UNBORN, History
from untilgreen.workspace.git.loose_objects import LooseObjects
from untilgreen.workspace.git.repository import find_repository


@pytest.mark.parametrize(
    "subject", ["a\x0cpage", "two\u2028lines", "next\x85line", "\x1b[2Jgone", "--exec=id", "tab\there"]
)
async def test_a_commit_is_one_line_whatever_its_subject_is(repository: Path, subject: str) -> None:
    found = await find_repository(repository)
    assert found is not None
    commit(repository, "before")
    before = await History(found).head()
    commit(repository, subject)

    (line,) = await History(found).commits(before, await History(found).head())

    short = git(repository, "rev-parse", "--short", "HEAD").strip()
    assert line == f"{short} {subject}"


@pytest.mark.timeout(30)
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
@pytest.mark.parametrize("place", ["HEAD", "refs/heads/main", "refs/heads/pipe"])
async def test_a_pipe_in_place_of_a_file_of_git_is_not_waited_for(repository: Path, place: str) -> None:
    found = await find_repository(repository)
    assert found is not None
    commit(repository, "before")
    (repository / ".git" / place).unlink(missing_ok=True)
    os.mkfifo(repository / ".git" / place)
    if place.endswith("pipe"):
        (repository / ".git" / "HEAD").write_text("ref: refs/heads/pipe\n")

    assert await History(found).head() == UNBORN


async def test_no_file_outside_is_mistaken_for_a_branch(repository: Path, tmp_path: Path) -> None:
    found = await find_repository(repository)
    assert found is not None
    (tmp_path / "other").write_text("1" * 40)
    (repository / ".git" / "HEAD").write_text("ref: refs/../../../other\n")

    assert await History(found).head() == UNBORN


@pytest.mark.parametrize("how", ["loose", "packed", "detached"])
async def test_the_tree_of_a_new_commit_is_read_without_git(repository: Path, how: str) -> None:
    found = await find_repository(repository)
    assert found is not None
    objects = LooseObjects(found.objects)
    assert History(found).loose_tree(objects) is None
    (repository / "file").write_text("1\n")
    commit(repository)
    tree = git(repository, "rev-parse", "HEAD^{tree}").strip()
    if how == "packed":
        git(repository, "gc", "--quiet")
    elif how == "detached":
        git(repository, "checkout", "--quiet", "--detach")

    assert History(found).loose_tree(objects) == (None if how == "packed" else tree)
