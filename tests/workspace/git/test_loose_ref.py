"""A ref is created without git, or left to git."""

import os
from pathlib import Path

import pytest

from tests.workspace.helpers import commit, git, write
from untilgreen.workspace.git.loose_ref import create_ref
from untilgreen.workspace.git_workspace import GitWorkspace

REF = "refs/untilgreen/r1/1"


@pytest.fixture
def tree(repository: Path) -> str:
    write(repository, {"a.txt": "1\n"})
    commit(repository)
    return git(repository, "rev-parse", "HEAD^{tree}").strip()


def test_git_sees_it_and_nothing_else_is_left(repository: Path, tree: str) -> None:
    assert create_ref(repository / ".git", REF, tree)

    assert git(repository, "rev-parse", REF).strip() == tree
    assert [each.name for each in (repository / ".git/refs/untilgreen/r1").iterdir()] == ["1"]
    git(repository, "fsck", "--strict")


@pytest.mark.parametrize("packed", [False, True])
def test_a_name_that_is_taken_is_left_to_git(repository: Path, tree: str, packed: bool) -> None:
    head = git(repository, "rev-parse", "HEAD").strip()
    git(repository, "update-ref", REF, head)
    if packed:
        git(repository, "pack-refs", "--all")

    assert not create_ref(repository / ".git", REF, tree)

    assert git(repository, "rev-parse", REF).strip() == head
    git(repository, "update-ref", REF, tree)  # no lock was left


def test_a_ref_in_place_of_its_folder_is_left_to_git(repository: Path, tree: str) -> None:
    git(repository, "update-ref", "refs/untilgreen/r1", tree)
    git(repository, "pack-refs", "--all")

    assert not create_ref(repository / ".git", REF, tree)

    assert git(repository, "for-each-ref", "--format=%(refname)", "refs/untilgreen") == "refs/untilgreen/r1\n"


def test_a_lock_is_respected(repository: Path, tree: str) -> None:
    write(repository, {f".git/{REF}.lock": "somebody's"})

    assert not create_ref(repository / ".git", REF, tree)

    assert (repository / ".git" / f"{REF}.lock").read_text() == "somebody's"
    assert not (repository / ".git" / REF).exists()


def test_what_a_killed_driver_left_is_not_a_ref_and_blocks_nothing(repository: Path, tree: str) -> None:
    write(repository, {f".git/{REF}.0123abcd.lock": "half"})

    assert create_ref(repository / ".git", REF, tree)

    assert git(repository, "for-each-ref", "--format=%(refname)", "refs/untilgreen") == f"{REF}\n"


def test_refs_that_are_kept_otherwise_are_left_to_git(repository: Path, tree: str) -> None:
    (repository / ".git" / "reftable").mkdir()

    assert not create_ref(repository / ".git", REF, tree)


@pytest.mark.timeout(30)
def test_a_pipe_in_place_of_the_packed_refs_is_not_waited_for(repository: Path, tree: str) -> None:
    os.mkfifo(repository / ".git" / "packed-refs")

    assert create_ref(repository / ".git", REF, tree)


async def test_a_repository_of_a_group_gets_its_refs_from_git(
    repository: Path, tree: str, workspace: GitWorkspace
) -> None:
    git(repository, "config", "core.sharedRepository", "group")
    before = os.umask(0o077)
    try:
        await workspace.snapshot("1")
    finally:
        os.umask(before)

    assert oct((repository / ".git" / REF).stat().st_mode)[-3:] == "660"
