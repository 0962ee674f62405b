"""Every kept tree has its own ref, which `git gc` respects and no log or branch list shows."""

from pathlib import Path

import pytest

from tests.workspace.helpers import commit, git, write
from untilgreen.errors import WorkspaceNotReady
from untilgreen.workspace.git_workspace import GitWorkspace


async def test_refs_to_snapshots_stay_out_of_the_log_and_the_branches(
    repository: Path, workspace: GitWorkspace
) -> None:
    write(repository, {"a.txt": "1\n"})
    commit(repository, "the only commit")
    await workspace.snapshot("0")
    write(repository, {"a.txt": "2\n"})
    tree = await workspace.snapshot("1")

    assert git(repository, "log", "--all", "--format=%s") == "the only commit\n"
    assert git(repository, "branch", "--all", "--format=%(refname)") == "refs/heads/main\n"
    assert git(repository, "rev-parse", "refs/untilgreen/r1/1").strip() == tree


async def test_a_label_that_is_taken_keeps_its_tree(
    repository: Path, workspace: GitWorkspace, private: Path
) -> None:
    write(repository, {"a.txt": "1\n"})
    first = await workspace.snapshot("lap 1/base")
    write(repository, {"a.txt": "2\n"})
    second = await workspace.snapshot("lap 1/base")
    again = await GitWorkspace(repository, "r1", private).snapshot("lap 1/base")
    write(repository, {"a.txt": "1\n"})
    await workspace.snapshot("lap 1/base")

    refs = git(repository, "for-each-ref", "--format=%(refname) %(objectname)", "refs/untilgreen")
    assert second == again
    assert refs.splitlines() == [
        f"refs/untilgreen/r1/lap-1-base {first}",
        f"refs/untilgreen/r1/lap-1-base-2 {second}",
    ]


@pytest.mark.parametrize("name", ["..", "a..b", "x.lock", ".hidden", "a b~^:?*[\\", "@{", "-dash", "é", ""])
async def test_any_text_is_a_label_and_a_name_of_a_run(name: str, repository: Path, private: Path) -> None:
    write(repository, {"a.txt": "1\n"})
    tree = await GitWorkspace(repository, name, private).snapshot(name)

    assert git(repository, "for-each-ref", "--format=%(objectname)", "refs/untilgreen").split() == [tree]


async def test_a_lock_that_a_killed_git_left_on_a_ref_is_passed_by(
    repository: Path, workspace: GitWorkspace
) -> None:
    write(repository, {"a.txt": "1\n", ".git/refs/untilgreen/r1/0.lock": ""})
    tree = await workspace.snapshot("0")

    assert git(repository, "rev-parse", "refs/untilgreen/r1/0-2").strip() == tree


async def test_a_tree_that_cannot_be_protected_is_not_a_snapshot(
    repository: Path, workspace: GitWorkspace
) -> None:
    write(repository, {"a.txt": "1\n", ".git/refs/untilgreen": "a file where a folder has to be\n"})

    with pytest.raises(WorkspaceNotReady, match="refs/untilgreen"):
        await workspace.snapshot("0")


async def test_the_trees_of_a_run_are_given_up_and_those_of_others_stay(
    repository: Path, workspace: GitWorkspace, private: Path
) -> None:
    write(repository, {"a.txt": "1\n"})
    commit(repository)
    await workspace.snapshot("0")
    other = await GitWorkspace(repository, "r11", private.with_name("other")).snapshot("0")
    git(repository, "pack-refs", "--all")
    write(repository, {"a.txt": "2\n"})
    second = await workspace.snapshot("1")
    kept = await workspace.kept()
    await workspace.forget()
    await workspace.forget()

    refs = git(repository, "for-each-ref", "--format=%(refname) %(objectname)").splitlines()
    assert kept == sorted([other, second])
    assert await workspace.kept() == []
    assert refs[1:] == [f"refs/untilgreen/r11/0 {other}"]
    assert await workspace.snapshot("1")
    assert git(repository, "for-each-ref", "refs/untilgreen/r1/").strip()


async def test_a_snapshot_that_undoes_a_restore_is_not_thinned_out(
    repository: Path, workspace: GitWorkspace
) -> None:
    write(repository, {"a.txt": "1\n"})
    first = await workspace.snapshot("0")
    write(repository, {"a.txt": "2\n"})
    await workspace.snapshot("1")
    write(repository, {"a.txt": "by hand\n"})
    back = (await workspace.restore(first, None)).before
    refs = (await workspace._ready()).refs

    assert await refs.thin([first]) == 1

    assert set((await refs.trees()).values()) == {first, back}
