"""The private index starts with what the user's index knows, but with nothing that hides a change."""

import os
from pathlib import Path

import pytest

from tests.workspace.helpers import commit, contents, git, put_in_front_of_git, settle, write
from untilgreen.workspace.git_workspace import GitWorkspace
from untilgreen.workspace.worktree import Worktree


def listed(repository: Path, tree: str) -> list[str]:
    return git(repository, "ls-tree", "-r", "-z", "--name-only", tree).split("\0")[:-1]


def blob(repository: Path, tree: str, path: str) -> str:
    return git(repository, "show", f"{tree}:{path}")


async def test_files_that_the_index_knows_are_not_read_again(
    repository: Path, workspace: GitWorkspace, tmp_path: Path
) -> None:
    """A filter shows this: git runs it for every file it reads."""
    calls = tmp_path / "calls"
    git(repository, "config", "--global", "filter.told.clean", f"echo %f >> '{calls}'; cat")
    write(repository, {"a.txt": "old\n", ".gitattributes": "*.txt filter=told\n"})
    commit(repository)
    settle(repository, "a.txt", ".gitattributes")
    read = calls.read_text()

    await workspace.prepare()
    await workspace.snapshot("0")
    assert calls.read_text() == read

    write(repository, {"a.txt": "new\n"})
    assert blob(repository, await workspace.snapshot("1"), "a.txt") == "new\n"
    assert calls.read_text() != read


async def test_a_change_as_old_as_the_index_is_seen(repository: Path, workspace: GitWorkspace) -> None:
    """The copy must keep the original's time; otherwise a file as old as the index would count as clean."""
    git(repository, "config", "core.trustctime", "false")
    write(repository, {"a.txt": "old\n"})
    settle(repository, "a.txt")
    git(repository, "add", "a.txt")
    write(repository, {"a.txt": "new\n"})
    for path in ("a.txt", ".git/index"):
        os.utime(repository / path, (1_000_000_000, 1_000_000_000))

    assert blob(repository, await workspace.snapshot("0"), "a.txt") == "new\n"


async def test_a_change_right_after_a_snapshot_is_seen(repository: Path, workspace: GitWorkspace) -> None:
    for number in range(20):
        write(repository, {"a.txt": f"{number:03}\n"})
        tree = await workspace.snapshot(str(number))

        assert blob(repository, tree, "a.txt") == f"{number:03}\n"


async def test_files_that_git_was_told_to_look_away_from_are_seen(
    repository: Path, workspace: GitWorkspace
) -> None:
    write(repository, {"assumed.txt": "1\n", "skipped.txt": "1\n", "both.txt": "1\n", "absent.txt": "1\n"})
    commit(repository)
    git(repository, "update-index", "--assume-unchanged", "assumed.txt", "both.txt")
    git(repository, "update-index", "--skip-worktree", "skipped.txt", "both.txt", "absent.txt")
    (repository / "absent.txt").unlink()
    write(repository, {"assumed.txt": "2\n", "skipped.txt": "2\n", "both.txt": "2\n"})
    before_files = contents(repository)
    before = await workspace.snapshot("0")
    write(repository, {"assumed.txt": "3\n", "skipped.txt": "3\n", "both.txt": "3\n"})
    after = await workspace.snapshot("1")
    await workspace.restore(before, after)

    assert [blob(repository, before, name) for name in ("assumed.txt", "skipped.txt", "both.txt")] == [
        "2\n"
    ] * 3
    assert "absent.txt" in listed(repository, before)
    assert contents(repository) == before_files


async def test_files_that_were_only_announced_to_git_are_kept(
    repository: Path, workspace: GitWorkspace
) -> None:
    write(repository, {"a.txt": "1\n", "later.txt": "1\n"})
    git(repository, "add", "--intent-to-add", "later.txt")

    assert listed(repository, await workspace.snapshot("0")) == ["a.txt", "later.txt"]


async def test_staged_changes_that_are_not_on_disk_are_not_in_a_snapshot(
    repository: Path, workspace: GitWorkspace
) -> None:
    write(repository, {"a.txt": "1\n", "b.txt": "1\n"})
    commit(repository)
    write(repository, {"a.txt": "staged\n"})
    git(repository, "add", "a.txt")
    git(repository, "rm", "--quiet", "--cached", "b.txt")
    write(repository, {"a.txt": "on disk\n"})
    tree = await workspace.snapshot("0")

    assert (blob(repository, tree, "a.txt"), blob(repository, tree, "b.txt")) == ("on disk\n", "1\n")


async def test_a_split_index_is_read_and_left_as_it_is(repository: Path, workspace: GitWorkspace) -> None:
    write(repository, {"a.txt": "1\n", "b.txt": "1\n"})
    commit(repository)
    git(repository, "config", "core.splitIndex", "true")
    git(repository, "update-index", "--split-index")
    write(repository, {"a.txt": "2\n"})
    git(repository, "add", "a.txt")
    shared = {path: path.read_bytes() for path in (repository / ".git").glob("sharedindex.*")}
    assert shared
    first = await workspace.snapshot("0")
    for path in shared:
        path.unlink()
    write(repository, {"b.txt": "2\n"})
    second = await workspace.snapshot("1")
    for path, content in shared.items():
        path.write_bytes(content)

    assert listed(repository, first) == listed(repository, second) == ["a.txt", "b.txt"]
    assert git(repository, "ls-files").split() == ["a.txt", "b.txt"]


async def test_a_lost_index_is_made_from_the_commit(repository: Path, workspace: GitWorkspace) -> None:
    write(repository, {".gitignore": "*.log\n", "kept.log": "1\n"})
    git(repository, "add", "--force", "kept.log")
    commit(repository)
    (repository / ".git" / "index").unlink()

    assert listed(repository, await workspace.snapshot("0")) == [".gitignore", "kept.log"]


async def test_a_beginning_that_was_cut_off_begins_again(
    repository: Path, workspace: GitWorkspace, private: Path
) -> None:
    write(repository, {"a.txt": "1\n"})
    write(
        private,
        {"git/seed": "half an index", "git/seed.lock": "", "git/index.lock": "", "git/scratch.lock": ""},
    )

    assert listed(repository, await workspace.snapshot("0")) == ["a.txt"]


async def test_a_later_driver_continues_with_the_same_index(repository: Path, private: Path) -> None:
    write(repository, {".gitignore": "*.log\n", "kept.log": "1\n"})
    git(repository, "add", "--force", "kept.log")
    commit(repository)
    first = await GitWorkspace(repository, "r1", private).snapshot("0")
    git(repository, "rm", "--quiet", "--cached", "kept.log")
    second = await GitWorkspace(repository, "r1", private).snapshot("1")

    assert first == second


@pytest.mark.parametrize("left", [b"", b"not an index", b"DIRC" + bytes(200)])
async def test_an_index_that_a_power_cut_damaged_is_made_again(
    left: bytes, repository: Path, workspace: GitWorkspace, private: Path
) -> None:
    write(repository, {".gitignore": "*.log\n", "kept.log": "1\n"})
    git(repository, "add", "--force", ".")
    before = await workspace.snapshot("0")
    (private / "git" / "index").write_bytes(left)

    assert await workspace.snapshot("1") == before


@pytest.fixture
async def checkout(repository: Path, private: Path, tmp_path: Path) -> GitWorkspace:
    """A worktree that git has just created, and nothing else has written to."""
    write(repository, {"a.txt": "old\n", "b.txt": "b\n"})
    commit(repository)
    return await checked_out(repository, private, tmp_path / "worktree")


async def checked_out(repository: Path, private: Path, place: Path) -> GitWorkspace:
    worktree = Worktree(path=place, repository=repository / ".git", run="r1")
    await worktree.make(git(repository, "rev-parse", "HEAD").strip(), repository)
    workspace = GitWorkspace(place, "r1", private)
    workspace.checked_out()
    return workspace


async def test_the_first_snapshot_of_a_new_checkout_takes_the_word_of_git(
    repository: Path, checkout: GitWorkspace
) -> None:
    write(checkout.root, {"a.txt": "new\n", "c.txt": "c\n"})
    (checkout.root / "b.txt").unlink()

    first = await checkout.snapshot("0")
    second = await checkout.snapshot("1")

    assert first == git(repository, "rev-parse", "HEAD^{tree}").strip()
    assert listed(repository, second) == ["a.txt", "c.txt"]
    assert blob(repository, second, "a.txt") == "new\n"


async def test_a_new_checkout_is_restored_byte_for_byte(checkout: GitWorkspace) -> None:
    before = contents(checkout.root)
    first = await checkout.snapshot("0")
    write(checkout.root, {"a.txt": "new\n", "c.txt": "c\n"})
    await checkout.restore(first, await checkout.snapshot("1"))

    assert contents(checkout.root) == before


async def test_a_change_of_equal_size_and_time_in_a_new_checkout_is_seen(
    repository: Path, checkout: GitWorkspace
) -> None:
    """git rereads files as young as its index, so the copy must keep the original's time."""
    git(repository, "config", "core.trustctime", "false")
    index = next((repository / ".git" / "worktrees").glob("*/index"))
    settle(checkout.root, "a.txt")
    os.utime(index, (1_000_000_000, 1_000_000_000))
    await checkout.snapshot("0")
    write(checkout.root, {"a.txt": "new\n"})
    os.utime(checkout.root / "a.txt", (1_000_000_000, 1_000_000_000))

    assert blob(repository, await checkout.snapshot("1"), "a.txt") == "new\n"


async def test_the_word_of_git_is_taken_once(repository: Path, checkout: GitWorkspace, private: Path) -> None:
    await checkout.snapshot("0")
    write(checkout.root, {"a.txt": "new\n"})
    (private / "git" / "index").unlink()

    assert blob(repository, await checkout.snapshot("1"), "a.txt") == "new\n"


async def test_the_word_of_git_is_not_taken_where_a_snapshot_was_taken_before(
    repository: Path, checkout: GitWorkspace, private: Path
) -> None:
    await GitWorkspace(checkout.root, "r1", private).snapshot("0")
    write(checkout.root, {"a.txt": "new\n"})

    assert blob(repository, await checkout.snapshot("1"), "a.txt") == "new\n"


@pytest.mark.parametrize(
    ("attributes", "setting"),
    [("*.txt text eol=crlf\n", "false"), ("", "true"), ("*.txt ident\n", "false"), ("* text\n", "true")],
)
async def test_a_new_checkout_that_git_converts_is_kept_as_it_is_on_disk(
    attributes: str, setting: str, repository: Path, private: Path, tmp_path: Path
) -> None:
    git(repository, "config", "--global", "core.autocrlf", setting)
    write(repository, {"a.txt": "1 $Id$\n2\n", "sub/.gitattributes": attributes, "sub/b.txt": "$Id$\n"})
    commit(repository)
    workspace = await checked_out(repository, private, tmp_path / "worktree")
    on_disk = contents(workspace.root)
    first = await workspace.snapshot("0")
    write(workspace.root, {"a.txt": "new\n", "sub/b.txt": "new\n"})
    await workspace.restore(first, await workspace.snapshot("1"))

    assert on_disk["sub/b.txt"] != b"$Id$\n"
    assert contents(workspace.root) == on_disk


@pytest.mark.parametrize("split", [False, True])
async def test_submodules_are_named_also_where_the_index_is_split(
    repository: Path, workspace: GitWorkspace, split: bool
) -> None:
    write(repository, {"a.txt": "1\n"})
    commit(repository)
    head = git(repository, "rev-parse", "HEAD").strip()
    git(repository, "update-index", "--add", "--cacheinfo", f"160000,{head},inner")
    if split:
        git(repository, "update-index", "--split-index")

    await workspace.prepare()

    assert [warning.partition(":")[2].split(".")[0] for warning in workspace.warnings()] == [" inner"]


async def test_git_is_not_asked_for_submodules_where_there_are_none(
    repository: Path, workspace: GitWorkspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(repository, {"a.txt": "1\n"})
    commit(repository)
    calls = tmp_path / "calls"
    put_in_front_of_git(tmp_path, monkeypatch, f"open({str(calls)!r}, 'a').write(verb + ' ')\n")

    await workspace.prepare()

    assert calls.read_text().split() == ["rev-parse", "config"]
