"""Which repository a directory belongs to, and which directories can't be worked in."""

from pathlib import Path

import pytest

from tests.workspace.helpers import commit, contents, git, put_in_front_of_git, write
from untilgreen.errors import WorkspaceNotReady
from untilgreen.workspace.factory import git_root
from untilgreen.workspace.git.repository import find_repository
from untilgreen.workspace.git_workspace import GitWorkspace


async def test_a_bare_repository_is_refused(tmp_path: Path, private: Path) -> None:
    git(tmp_path, "init", "--quiet", "--bare", "bare.git")

    with pytest.raises(WorkspaceNotReady, match=r"bare repository.*git worktree add"):
        await GitWorkspace(tmp_path / "bare.git", "r1", private).snapshot("0")


async def test_a_git_directory_is_refused(repository: Path, private: Path) -> None:
    with pytest.raises(WorkspaceNotReady, match="inside a git directory"):
        await GitWorkspace(repository / ".git" / "refs", "r1", private).snapshot("0")


async def test_a_directory_without_git_is_refused_by_the_workspace_for_git(
    tmp_path: Path, private: Path
) -> None:
    (tmp_path / "plain").mkdir()

    with pytest.raises(WorkspaceNotReady, match="git init"):
        await GitWorkspace(tmp_path / "plain", "r1", private).snapshot("0")


async def test_a_broken_link_to_a_repository_is_not_a_plain_directory(tmp_path: Path) -> None:
    write(tmp_path, {"linked/.git": "gitdir: /no/such/place\n"})

    with pytest.raises(WorkspaceNotReady, match="not a git repository: /no/such/place"):
        await git_root(tmp_path / "linked")


async def test_the_root_is_found_from_any_part(repository: Path) -> None:
    write(repository, {"a b/c/d.txt": "1\n"})

    assert await git_root(repository) == repository
    assert await git_root(repository / "a b" / "c") == repository
    assert await git_root(repository.parent) is None


async def test_the_root_is_found_through_a_link(repository: Path, tmp_path: Path) -> None:
    write(repository, {"part/a.txt": "1\n"})
    (tmp_path / "link").symlink_to(repository / "part")

    assert await git_root(tmp_path / "link") == repository


async def test_a_directory_that_git_ignores_is_not_part_of_its_repository(repository: Path) -> None:
    write(repository, {".gitignore": "scratch/\n", "scratch/deep/a.txt": "1\n", "other/a.txt": "1\n"})

    assert await git_root(repository / "scratch") is None
    assert await git_root(repository / "scratch" / "deep") is None
    assert await git_root(repository / "other") == repository


async def test_an_ignored_directory_with_tracked_files_is_part_of_its_repository(repository: Path) -> None:
    write(repository, {".gitignore": "scratch/\n", "scratch/a.txt": "1\n"})
    git(repository, "add", "--force", "scratch/a.txt")

    assert await git_root(repository / "scratch") == repository


async def test_a_submodule_is_a_repository_of_its_own(repository: Path, tmp_path: Path) -> None:
    library = tmp_path / "library"
    library.mkdir()
    git(library, "init", "--quiet")
    write(library, {"lib.txt": "1\n"})
    commit(library)
    git(repository, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(library), "lib")
    workspace = GitWorkspace(repository / "lib", "r1", tmp_path / "private")
    before = await workspace.snapshot("0")
    write(repository, {"lib/lib.txt": "2\n"})
    await workspace.restore(before, await workspace.snapshot("1"))

    assert await git_root(repository / "lib") == repository / "lib"
    assert (repository / "lib/lib.txt").read_bytes() == b"1\n"


async def test_a_path_with_a_line_break_is_refused_with_the_reason(tmp_path: Path) -> None:
    place = tmp_path / "two\nlines"
    place.mkdir()
    git(place, "init", "--quiet")

    with pytest.raises(WorkspaceNotReady, match="contains a newline"):
        await find_repository(place)


async def test_a_repository_in_a_path_with_odd_characters_can_be_worked_in(tmp_path: Path) -> None:
    place = tmp_path / 'it\'s "odd" \\ — ü #;'
    place.mkdir()
    git(place, "init", "--quiet")
    write(place, {".git/info/exclude": "hidden.txt\n", "hidden.txt": "1\n", "a.txt": "1\n"})
    git(place, "config", "core.excludesFile", str(place / "more-rules"))
    write(place, {"more-rules": "also-hidden.txt\n", "also-hidden.txt": "1\n"})
    workspace = GitWorkspace(place, "r1", tmp_path / 'private "two"')
    tree = await workspace.snapshot("0")

    assert git(place, "ls-tree", "--name-only", tree).split() == ["a.txt", "more-rules"]


async def test_a_worktree_of_a_bare_repository_can_be_worked_in(repository: Path, tmp_path: Path) -> None:
    write(repository, {"a.txt": "1\n"})
    commit(repository)
    git(tmp_path, "clone", "--quiet", "--bare", str(repository), "bare.git")
    git(tmp_path / "bare.git", "worktree", "add", "--quiet", str(tmp_path / "linked"))
    workspace = GitWorkspace(tmp_path / "linked", "r1", tmp_path / "private")
    before = await workspace.snapshot("0")
    write(tmp_path, {"linked/a.txt": "2\n"})
    await workspace.restore(before, await workspace.snapshot("1"))

    assert (tmp_path / "linked/a.txt").read_bytes() == b"1\n"
    assert git(tmp_path / "bare.git", "for-each-ref", "refs/untilgreen/r1/0")


async def test_a_partial_clone_is_kept_without_fetching_what_it_lacks(
    repository: Path, tmp_path: Path
) -> None:
    write(repository, {"top.txt": "1\n", "deep/far.txt": "never fetched\n"})
    commit(repository)
    git(repository, "config", "uploadpack.allowFilter", "true")
    git(tmp_path, "clone", "--quiet", "--filter=blob:none", "--sparse", repository.as_uri(), "partial")
    git(tmp_path / "partial", "remote", "set-url", "origin", (tmp_path / "out-of-reach").as_uri())
    partial = tmp_path / "partial"
    workspace = GitWorkspace(partial, "r1", tmp_path / "private")
    before = await workspace.snapshot("0")
    write(partial, {"top.txt": "2\n", "new.txt": "1\n"})
    after = await workspace.snapshot("1")
    await workspace.restore(before, after)

    assert before == git(partial, "rev-parse", "HEAD^{tree}").strip()
    assert contents(partial) == {"top.txt": b"1\n"}


async def test_a_git_that_is_too_old_is_named(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_in_front_of_git(tmp_path, monkeypatch, "print('--path-format=absolute\\ntrue\\nfalse'); sys.exit()\n")

    with pytest.raises(WorkspaceNotReady, match=r"Install git 2\.31"):
        await git_root(repository)
