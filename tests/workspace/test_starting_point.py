"""The state that a run finds when it begins is read without writing anything."""

from pathlib import Path

from tests.workspace.helpers import commit, git, settle, write
from untilgreen.workspace.git.repository import Repositories
from untilgreen.workspace.starting_point import starting_point


async def test_a_look_leaves_the_index_of_the_user_as_it_is(repository: Path) -> None:
    """git would refresh the index entries of files that were only touched."""
    write(repository, {"a.txt": "1\n", "b.txt": "1\n"})
    commit(repository)
    settle(repository, "a.txt", "b.txt")
    (repository / "a.txt").touch()
    write(repository, {"b.txt": "2\n", "new.txt": "1\n"})
    before = (repository / ".git" / "index").read_bytes()

    found = await starting_point(repository, Repositories())

    assert found is not None
    assert (found.commit, found.dirty) == (git(repository, "rev-parse", "HEAD").strip(), ["b.txt", "new.txt"])
    assert (repository / ".git" / "index").read_bytes() == before


async def test_before_the_first_commit_the_starting_point_has_no_commit(repository: Path) -> None:
    write(repository, {"a.txt": "1\n"})

    found = await starting_point(repository, Repositories())

    assert found is not None
    assert (found.commit, found.dirty) == (None, ["a.txt"])


async def test_a_commit_whose_branch_is_packed_is_found(repository: Path) -> None:
    write(repository, {"a.txt": "1\n"})
    commit(repository)
    git(repository, "pack-refs", "--all")

    found = await starting_point(repository, Repositories())

    assert found is not None
    assert found.commit == git(repository, "rev-parse", "HEAD").strip()
