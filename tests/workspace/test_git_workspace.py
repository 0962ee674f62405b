"""A repository as a workspace: what a snapshot contains, and that the user's git notices nothing."""

import hashlib
import os
from itertools import pairwise
from pathlib import Path

import anyio
import pytest

from tests.workspace.helpers import (
    commit,
    contents,
    git,
    many_files,
    put_in_front_of_git,
    record_every_hook,
    write,
)
from untilgreen.core.values.model import Change
from untilgreen.errors import UserError, WorkspaceNotReady
from untilgreen.workspace.export import Exporter
from untilgreen.workspace.file_stamps import FRESH_NANOSECONDS
from untilgreen.workspace.folder_stamps import folders
from untilgreen.workspace.git.private_index import LARGE, NOTEWORTHY
from untilgreen.workspace.git_workspace import GitWorkspace

OURS = (".git/objects/", ".git/refs/untilgreen/")


def state_of_git(repository: Path) -> dict[str, str]:
    """The hashes of all of git's files, except objects and our own refs."""
    return {
        str(path.relative_to(repository)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted((repository / ".git").rglob("*"))
        if path.is_file() and not str(path.relative_to(repository)).startswith(OURS)
    }


def listed(repository: Path, tree: str) -> list[str]:
    return git(repository, "ls-tree", "-r", "-z", "--name-only", tree).split("\0")[:-1]


async def test_a_clean_repository_has_the_tree_of_its_commit(
    repository: Path, workspace: GitWorkspace
) -> None:
    write(repository, {"a.txt": "1\n", "src/b.py": "2\n"})
    commit(repository)

    assert await workspace.snapshot("0") == git(repository, "rev-parse", "HEAD^{tree}").strip()


async def test_what_a_snapshot_of_a_few_files_changed_is_known_without_git(
    repository: Path, workspace: GitWorkspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(repository, {"a.txt": "1\n"})
    commit(repository)
    before = await workspace.snapshot("0")
    write(repository, {"a.txt": "2\n"})
    calls = tmp_path / "calls"
    put_in_front_of_git(tmp_path, monkeypatch, f"open({str(calls)!r}, 'a').write(verb + ' ')\n")

    after = await workspace.snapshot("1")
    seen = [await workspace.changes(before, after) for _ in range(3)]

    assert seen == [[Change(path="a.txt")]] * 3
    assert "diff-tree" not in calls.read_text().split()


async def test_git_notices_nothing_of_all_the_work(
    repository: Path, workspace: GitWorkspace, tmp_path: Path
) -> None:
    write(repository, {"a.txt": "1\n", "b.txt": "2\n", "c.txt": "3\n"})
    commit(repository)
    write(repository, {"b.txt": "stashed\n"})
    git(repository, "stash")
    git(repository, "pack-refs", "--all")
    git(repository, "branch", "other")
    write(repository, {"a.txt": "staged\n"})
    git(repository, "add", "a.txt")
    write(repository, {"a.txt": "not staged\n", "new.txt": "untracked\n"})
    for key, value in {
        "commit.gpgSign": "true",
        "core.logAllRefUpdates": "always",
        "core.fsmonitor": ".git/hooks/fsmonitor",
        "gc.auto": "1",
    }.items():
        git(repository, "config", key, value)
    record_every_hook(repository, tmp_path / "hooks-that-ran")
    before = state_of_git(repository)
    seen = git(repository, "-c", "core.fsmonitor=false", "--no-optional-locks", "status", "--porcelain")
    before_files = contents(repository)

    await workspace.prepare()
    first = await workspace.snapshot("0")
    write(repository, {"a.txt": "agent\n", "new.txt": "agent\n", "src/more.txt": "agent\n"})
    (repository / "b.txt").unlink()
    second = await workspace.snapshot("1")
    await workspace.changes(first, second)
    await workspace.diff(first, second)
    await workspace.restore(first, second)

    assert state_of_git(repository) == before
    assert contents(repository) == before_files
    assert not (tmp_path / "hooks-that-ran").exists()
    assert (
        git(repository, "-c", "core.fsmonitor=false", "--no-optional-locks", "status", "--porcelain") == seen
    )


async def test_the_index_of_the_user_keeps_its_very_bytes_also_when_its_lock_is_held(
    repository: Path, workspace: GitWorkspace
) -> None:
    write(repository, {"a.txt": "1\n"})
    commit(repository)
    (repository / ".git" / "index.lock").touch()
    before = state_of_git(repository)
    first = await workspace.snapshot("0")
    write(repository, {"a.txt": "2\n"})
    second = await workspace.snapshot("1")
    await workspace.restore(first, second)

    assert state_of_git(repository) == before
    assert contents(repository) == {"a.txt": b"1\n"}


async def test_snapshots_survive_the_garbage_collection_of_the_user(
    repository: Path, workspace: GitWorkspace
) -> None:
    write(repository, {"a.txt": "1\n"})
    commit(repository)
    write(repository, {"a.txt": "only in a snapshot\n"})
    kept = await workspace.snapshot("1")
    write(repository, {"a.txt": "3\n"})
    now = await workspace.snapshot("2")
    done = await workspace.restore(kept, now)
    git(repository, "gc", "--quiet", "--prune=now")
    git(repository, "fsck", "--strict")

    await workspace.restore(done.before, kept)
    assert contents(repository) == {"a.txt": b"3\n"}
    await workspace.restore(kept, done.before)
    assert contents(repository) == {"a.txt": b"only in a snapshot\n"}


async def test_a_second_look_at_unmoved_files_costs_at_most_one_look(
    repository: Path, workspace: GitWorkspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(repository, {"a.txt": "1\n"})
    commit(repository)
    os.utime(repository / "a.txt", (1_000_000_000, 1_000_000_000))
    log = record_commands(tmp_path, monkeypatch)
    first = await workspace.snapshot("0")
    log.write_text("")
    second = await workspace.snapshot("0")
    seen = log.read_text().split()
    log.write_text("")
    third = await workspace.snapshot("1")
    asked = log.read_text().split()
    await workspace.settle()

    assert first == second == third
    assert seen + asked in ([], ["cat-file"])  # the tree, to compare files that are still fresh
    assert git(repository, "rev-parse", "refs/untilgreen/r1/0", "refs/untilgreen/r1/1").split() == [first] * 2


async def test_a_look_at_files_that_have_been_still_for_a_while_starts_no_git(
    repository: Path, workspace: GitWorkspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(repository, {"a.txt": "1\n", "deep/b.txt": "2\n"})
    commit(repository)
    await workspace.prepare()
    await anyio.sleep(2 * FRESH_NANOSECONDS / 1e9)
    first = await workspace.snapshot("0")
    log = record_commands(tmp_path, monkeypatch)
    again = await workspace.snapshot("0")
    still = log.read_text() if log.exists() else ""
    times = (repository / "deep/b.txt").stat()
    write(repository, {"deep/b.txt": "3\n"})
    os.utime(repository / "deep/b.txt", ns=(times.st_atime_ns, times.st_mtime_ns))
    moved = await workspace.snapshot("1")

    assert (again, still) == (first, "")
    assert git(repository, "show", f"{moved}:deep/b.txt") == "3\n"


async def test_a_snapshot_of_changed_files_reads_their_folders_once_and_takes_no_other_process(
    repository: Path, workspace: GitWorkspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(repository, {"a.txt": "1\n"})
    commit(repository)
    await workspace.snapshot("0")
    log = record_commands(tmp_path, monkeypatch)
    write(repository, {"a.txt": "longer\n"})
    await workspace.snapshot("1")
    write(repository, {"a.txt": "longer again\n"})
    await workspace.snapshot("2")

    assert log.read_text().split() == ["cat-file"]


async def test_a_snapshot_with_a_new_file_takes_two_processes(
    repository: Path, workspace: GitWorkspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(repository, {"a.txt": "1\n"})
    commit(repository)
    await workspace.snapshot("0")
    write(repository, {"a.txt": "longer\n"})
    await workspace.snapshot("1")
    log = record_commands(tmp_path, monkeypatch)
    write(repository, {"new.txt": "1\n"})
    await workspace.snapshot("2")

    assert log.read_text().split() == ["ls-files", "update-index"]


async def test_files_that_were_only_touched_before_a_run_are_read_once(
    repository: Path, workspace: GitWorkspace, tmp_path: Path
) -> None:
    log = tmp_path / "read"
    git(repository, "config", "--global", "filter.log.clean", f"tee -a {log}")
    write(repository, {"a.txt": "1\n", ".gitattributes": "*.txt filter=log\n"})
    commit(repository)
    os.utime(repository / "a.txt", (1_000_000_000, 1_000_000_000))
    log.write_text("")
    await workspace.snapshot("0")
    first = log.read_text()
    await workspace.snapshot("1")

    assert (first, log.read_text()) == ("1\n", "1\n")


async def test_many_files_are_looked_at_like_few(repository: Path, workspace: GitWorkspace) -> None:
    write(repository, {**many_files(), "a.txt": "1\n", "b.txt": "2\n", "d/x.txt": "3\n"})
    commit(repository)
    before = await workspace.snapshot("0")
    write(repository, {"a.txt": "changed\n", "new.txt": "4\n"})
    (repository / "b.txt").unlink()
    (repository / "d").rename(repository / "e")
    (repository / "d").symlink_to("e")
    after = await workspace.snapshot("1")

    assert (repository / ".git" / "index").stat().st_size > LARGE
    assert {change.path: change.status for change in await workspace.changes(before, after)} == {
        "a.txt": "modified",
        "b.txt": "deleted",
        "d": "added",
        "d/x.txt": "deleted",
        "e/x.txt": "added",
        "new.txt": "added",
    }


async def test_a_few_changes_among_many_files_are_grafted_and_not_written_from_the_index(
    repository: Path, workspace: GitWorkspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(repository, {**many_files(), "a.txt": "1\n", "b.txt": "2\n"})
    commit(repository)
    await workspace.snapshot("0")
    write(repository, {"a.txt": "changed\n", "deep/new.txt": "4\n"})
    (repository / "b.txt").unlink()
    log = record_commands(tmp_path, monkeypatch)
    after = await workspace.snapshot("1")
    used = log.read_text().split()
    git(repository, "add", "-A")

    assert sorted(used) == ["cat-file", "diff-files", "ls-files", "update-index"]
    assert git(repository, "write-tree").strip() == after
    assert await GitWorkspace(repository, "r2", tmp_path / "other").snapshot("0") == after


async def test_a_file_that_is_written_between_its_two_readers_is_kept_as_the_index_has_it(
    repository: Path, workspace: GitWorkspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise the index would have the file as it was, and the tree the file as it is now."""
    write(repository, {"a.txt": "1\n"})
    commit(repository)
    await workspace.snapshot("0")
    write(repository, {"a.txt": "2\n", "new.txt": "1\n"})
    code = (
        "import subprocess\n"
        "if verb == 'update-index':\n"
        "    path = os.environ['PATH'].split(':', 1)[1]\n"
        "    code = subprocess.call(['git', *sys.argv[1:]], env={**os.environ, 'PATH': path})\n"
        f"    open({str(repository / 'a.txt')!r}, 'w').write('in between\\n')\n"
        "    sys.exit(code)\n"
    )
    put_in_front_of_git(tmp_path, monkeypatch, code)

    first, second = await workspace.snapshot("1"), await workspace.snapshot("2")

    assert git(repository, "show", f"{first}:a.txt") == "2\n"
    assert git(repository, "show", f"{second}:a.txt") == "in between\n"


async def test_new_files_among_many_are_looked_for_only_where_a_name_came_or_went(
    repository: Path, workspace: GitWorkspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Or where an ignore rule changed, even one in a file that git itself ignores."""
    write(repository, many_files())
    write(repository, {"a.txt": "1\n", "d/.gitignore": "*.log\n.gitignore\n", "d/x.log": "1\n"})
    commit(repository)
    await anyio.sleep(1.2 * FRESH_NANOSECONDS / 1e9)
    trees = [await workspace.snapshot("0")]
    log = record_commands(tmp_path, monkeypatch)
    asked: list[bool] = []
    for number, path in enumerate(["a.txt", "d/new.txt", "a.txt", "d/.gitignore"]):
        write(repository, {path: f"{number}\n"})
        log.write_text("")
        trees.append(await workspace.snapshot(str(number)))
        asked.append("ls-files" in log.read_text().split())
        await anyio.sleep(1.2 * FRESH_NANOSECONDS / 1e9)
        trees.append(await workspace.snapshot(f"{number}-again"))

    assert asked == [False, True, False, True]
    changed = [[each.path for each in await workspace.changes(*pair)] for pair in pairwise(trees)]
    assert changed == [["a.txt"], [], ["d/new.txt"], [], ["a.txt"], [], ["d/.gitignore", "d/x.log"], []]


async def test_a_file_among_many_that_came_at_the_moment_of_a_look_is_in_the_next_snapshot(
    repository: Path, workspace: GitWorkspace
) -> None:
    """The directory's time may be the same before and after the file came, at the disk's resolution."""
    write(repository, {**many_files(), "d/a.txt": "1\n"})
    commit(repository)
    await workspace.snapshot("0")
    assert workspace._names is not None
    write(repository, {"d/new.txt": "1\n"})
    found = folders(os.fsencode(repository))
    assert found is not None
    workspace._names = (found, workspace._names[1])

    assert "d/new.txt" in listed(repository, await workspace.snapshot("1"))


async def test_a_private_index_that_is_lost_among_many_files_is_made_again_with_new_ones(
    repository: Path, workspace: GitWorkspace
) -> None:
    write(repository, {**many_files(), "a.txt": "1\n"})
    commit(repository)
    write(repository, {"d/new.txt": "1\n", "a.txt": "changed\n"})
    await anyio.sleep(1.2 * FRESH_NANOSECONDS / 1e9)
    before = await workspace.snapshot("0")
    (await workspace._ready()).index.unlink()

    assert await workspace.snapshot("1") == before


def record_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    log = tmp_path / "verbs"
    log.touch()
    put_in_front_of_git(tmp_path, monkeypatch, f"open({str(log)!r}, 'a').write(verb + '\\n')\n")
    return log


async def test_the_environment_of_the_caller_does_not_lead_git_elsewhere(
    repository: Path, workspace: GitWorkspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(repository, {"a.txt": "1\n"})
    commit(repository)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    git(elsewhere, "init", "--quiet")
    for name, value in {
        "GIT_DIR": str(elsewhere / ".git"),
        "GIT_WORK_TREE": str(elsewhere),
        "GIT_INDEX_FILE": str(elsewhere / "index"),
        "GIT_OBJECT_DIRECTORY": str(elsewhere / "objects"),
        "GIT_LITERAL_PATHSPECS": "1",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "core.worktree",
        "GIT_CONFIG_VALUE_0": str(elsewhere),
        "GIT_EXTERNAL_DIFF": "false",
        "GIT_TRACE": "1",
        "GIT_NAMESPACE": "n",
        "LC_ALL": "de_DE.UTF-8",
    }.items():
        monkeypatch.setenv(name, value)
    before = await workspace.snapshot("0")
    write(repository, {"a.txt": "2\n"})
    after = await workspace.snapshot("1")
    diff = await workspace.diff(before, after)
    for name in [name for name in os.environ if name.startswith("GIT_") and "CONFIG_G" not in name]:
        monkeypatch.delenv(name)

    assert diff.splitlines()[-2:] == ["-1", "+2"]
    assert contents(elsewhere) == {}
    assert git(repository, "rev-parse", "refs/untilgreen/r1/0").strip() == before


async def test_a_diff_is_plain_whatever_is_configured(repository: Path, workspace: GitWorkspace) -> None:
    for key, value in {
        "color.ui": "always",
        "diff.external": "false",
        "diff.noprefix": "true",
        "diff.mnemonicPrefix": "true",
        "diff.renames": "copies",
        "diff.context": "0",
        "diff.fake.textconv": "echo converted",
        "diff.orderFile": "missing",
    }.items():
        git(repository, "config", key, value)
    write(repository, {".gitattributes": "*.txt diff=fake\n*.md -diff\n", "a.txt": "a\nb\n", "b.md": "1\n"})
    before = await workspace.snapshot("0")
    write(repository, {"a.txt": "a\nc\n", "b.md": "2\n"})
    after = await workspace.snapshot("1")
    (repository / "a.txt").rename(repository / "z.txt")
    moved = await workspace.snapshot("2")

    lines = (await workspace.diff(before, after)).splitlines()
    assert [line for line in lines if not line.startswith(("index ", "diff "))] == [
        *("--- a/a.txt", "+++ b/a.txt", "@@ -1,2 +1,2 @@", " a", "-b", "+c"),
        *("--- a/b.md", "+++ b/b.md", "@@ -1 +1 @@", "-1", "+2"),
    ]
    assert list(await workspace.changes(after, moved)) == [
        Change(path="a.txt", status="deleted"),
        Change(path="z.txt", status="added"),
    ]


async def test_a_run_started_in_a_part_of_the_repository_covers_all_of_it(
    repository: Path, private: Path
) -> None:
    write(repository, {"top.txt": "1\n", "part/deep/in.txt": "1\n"})
    commit(repository)
    workspace = GitWorkspace(repository / "part" / "deep", "r1", private)
    before = await workspace.snapshot("0")
    write(repository, {"top.txt": "2\n", "part/deep/in.txt": "2\n"})
    after = await workspace.snapshot("1")

    assert workspace.root == repository / "part" / "deep"
    assert [change.path for change in await workspace.changes(before, after)] == [
        "part/deep/in.txt",
        "top.txt",
    ]
    await workspace.restore(before, after)
    assert contents(repository) == {"part/deep/in.txt": b"1\n", "top.txt": b"1\n"}


async def test_the_directory_of_the_run_exists_after_a_restore_that_empties_it(
    repository: Path, private: Path
) -> None:
    write(repository, {"top.txt": "1\n"})
    (repository / "part").mkdir()
    workspace = GitWorkspace(repository / "part", "r1", private)
    before = await workspace.snapshot("0")
    write(repository, {"part/new.txt": "1\n"})
    await workspace.restore(before, await workspace.snapshot("1"))

    assert contents(repository) == {"part": None, "top.txt": b"1\n"}


async def test_a_linked_worktree_has_its_own_files_and_the_refs_of_the_repository(
    repository: Path, private: Path
) -> None:
    write(repository, {"a.txt": "1\n"})
    commit(repository)
    linked = repository.parent / "linked"
    git(repository, "worktree", "add", "--quiet", str(linked))
    before_git = state_of_git(repository)
    workspace = GitWorkspace(linked, "r1", private)
    before = await workspace.snapshot("0")
    write(linked, {"a.txt": "2\n", "b.txt": "3\n"})
    after = await workspace.snapshot("1")
    await workspace.restore(before, after)

    assert contents(linked) == {"a.txt": b"1\n"}
    assert contents(repository) == {"a.txt": b"1\n"}
    assert state_of_git(repository) == before_git
    assert git(repository, "rev-parse", "refs/untilgreen/r1/1").strip() == after
    git(repository, "gc", "--quiet", "--prune=now")
    await workspace.restore(after, before)
    assert contents(linked) == {"a.txt": b"2\n", "b.txt": b"3\n"}


async def test_a_repository_without_a_commit_can_be_worked_in(
    repository: Path, workspace: GitWorkspace
) -> None:
    empty = await workspace.snapshot("0")
    write(repository, {"a.txt": "1\n"})
    full = await workspace.snapshot("1")
    await workspace.restore(empty, full)

    assert contents(repository) == {}
    await workspace.restore(full, empty)
    assert contents(repository) == {"a.txt": b"1\n"}
    assert git(repository, "status", "--porcelain") == "?? a.txt\n"


async def test_a_repository_with_longer_hashes_can_be_worked_in(tmp_path: Path, private: Path) -> None:
    place = tmp_path / "wide"
    place.mkdir()
    git(place, "init", "--quiet", "--object-format=sha256")
    write(place, {"a.txt": "1\n"})
    commit(place)
    workspace = GitWorkspace(place, "r1", private)
    before = await workspace.snapshot("0")
    write(place, {"a.txt": "2\n"})
    await workspace.restore(before, await workspace.snapshot("1"))

    assert before == git(place, "rev-parse", "HEAD^{tree}").strip()
    assert contents(place) == {"a.txt": b"1\n"}


@pytest.mark.parametrize("operation", ["merge", "rebase"])
async def test_a_conflict_stays_the_users_to_resolve(
    operation: str, repository: Path, workspace: GitWorkspace
) -> None:
    write(repository, {"a.txt": "base\n", "gone.txt": "base\n"})
    commit(repository)
    git(repository, "checkout", "--quiet", "-b", "other")
    write(repository, {"a.txt": "theirs\n"})
    (repository / "gone.txt").unlink()
    commit(repository)
    git(repository, "checkout", "--quiet", "main")
    write(repository, {"a.txt": "ours\n", "gone.txt": "ours\n"})
    commit(repository)
    git(repository, operation, "other", check=False)
    unmerged = git(repository, "ls-files", "--unmerged")
    assert unmerged
    before_files = contents(repository)
    before_git = state_of_git(repository)

    before = await workspace.snapshot("0")
    write(repository, {"a.txt": "resolved by the agent\n"})
    (repository / "gone.txt").unlink()
    after = await workspace.snapshot("1")
    await workspace.restore(before, after)

    assert contents(repository) == before_files
    assert listed(repository, before) == ["a.txt", "gone.txt"]
    assert state_of_git(repository) == before_git
    assert git(repository, "ls-files", "--unmerged") == unmerged


async def test_submodules_are_kept_as_their_commit_and_left_alone(
    repository: Path, workspace: GitWorkspace, tmp_path: Path
) -> None:
    library = tmp_path / "library"
    library.mkdir()
    git(library, "init", "--quiet")
    write(library, {"lib.txt": "1\n"})
    commit(library)
    git(
        repository,
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "--quiet",
        "add",
        str(library),
        "vendor/lib",
    )
    write(repository, {"a.txt": "1\n"})
    commit(repository)
    await workspace.prepare()
    before = await workspace.snapshot("0")
    write(repository, {"vendor/lib/lib.txt": "dirty\n"})
    dirty = await workspace.snapshot("1")
    write(repository, {"a.txt": "2\n"})
    commit(repository / "vendor" / "lib")
    moved = await workspace.snapshot("2")
    done = await workspace.restore(before, moved)

    assert before == dirty
    assert [change.path for change in await workspace.changes(before, moved)] == ["a.txt", "vendor/lib"]
    assert done.kept == ("vendor/lib",)
    assert (repository / "a.txt").read_bytes() == b"1\n"
    assert (repository / "vendor/lib/lib.txt").read_bytes() == b"dirty\n"
    assert [
        warning for warning in workspace.warnings() if "vendor/lib" in warning and "submodules" in warning
    ]


@pytest.mark.parametrize("committed", [True, False])
async def test_a_repository_inside_the_repository_is_left_alone_and_named(
    committed: bool, repository: Path, workspace: GitWorkspace
) -> None:
    write(repository, {"a.txt": "1\n"})
    commit(repository)
    before = await workspace.snapshot("0")
    quiet = workspace.warnings()
    write(repository, {"clones/inner/own.txt": "1\n", "clones/notes.txt": "1\n"})
    git(repository / "clones" / "inner", "init", "--quiet")
    if committed:
        commit(repository / "clones" / "inner")
    after = await workspace.snapshot("1")
    await workspace.restore(before, after)

    assert quiet == []
    assert listed(repository, after) == ["a.txt", "clones/notes.txt"]
    assert contents(repository) == {"a.txt": b"1\n", "clones/inner/own.txt": b"1\n"}
    assert (repository / "clones/inner/.git/HEAD").exists()
    assert [warning for warning in workspace.warnings() if "clones/inner" in warning]


async def test_a_directory_that_is_no_longer_a_repository_is_seen(
    repository: Path, workspace: GitWorkspace
) -> None:
    write(repository, {"inner/own.txt": "1\n"})
    git(repository / "inner", "init", "--quiet")
    first = await workspace.snapshot("0")
    (repository / "inner" / ".git").rename(repository.parent / "moved-away")
    second = await workspace.snapshot("1")

    assert (listed(repository, first), listed(repository, second)) == ([], ["inner/own.txt"])


async def test_a_sparse_checkout_is_not_a_deletion(repository: Path, workspace: GitWorkspace) -> None:
    write(repository, {"in/a.txt": "1\n", "out/b.txt": "1\n", "top.txt": "1\n"})
    commit(repository)
    git(repository, "sparse-checkout", "set", "in")
    assert contents(repository) == {"in/a.txt": b"1\n", "top.txt": b"1\n"}
    before = await workspace.snapshot("0")
    write(repository, {"in/a.txt": "2\n", "out/new.txt": "by the agent\n"})
    after = await workspace.snapshot("1")

    assert before == git(repository, "rev-parse", "HEAD^{tree}").strip()
    assert list(await workspace.changes(before, after)) == [
        Change(path="in/a.txt", status="modified"),
        Change(path="out/new.txt", status="added"),
    ]
    done = await workspace.restore(before, after)
    assert (done.kept, contents(repository)) == ((), {"in/a.txt": b"1\n", "top.txt": b"1\n"})
    assert await workspace.snapshot("2") == before
    await workspace.restore(after, before)
    assert contents(repository) == {
        "in/a.txt": b"2\n",
        "out/new.txt": b"by the agent\n",
        "top.txt": b"1\n",
    }
    assert await workspace.snapshot("3") == after


@pytest.mark.parametrize("form", ["--no-sparse-index", "--sparse-index"])
async def test_a_sparse_checkout_may_grow_and_shrink_meanwhile(
    form: str, repository: Path, workspace: GitWorkspace
) -> None:
    write(repository, {"in/a.txt": "1\n", "out/b.txt": "1\n", "far/c.txt": "1\n"})
    commit(repository)
    git(repository, "sparse-checkout", "set", "--cone", form, "in")
    before = await workspace.snapshot("0")
    git(repository, "sparse-checkout", "add", "out")
    write(repository, {"in/a.txt": "2\n", "out/b.txt": "2\n"})
    after = await workspace.snapshot("1")
    await workspace.restore(before, after)

    assert [change.path for change in await workspace.changes(before, after)] == ["in/a.txt", "out/b.txt"]
    assert contents(repository) == {"in/a.txt": b"1\n", "out/b.txt": b"1\n"}
    assert git(repository, "status", "--porcelain") == ""
    git(repository, "sparse-checkout", "set", "in")
    shrunk = await workspace.snapshot("2")
    assert list(await workspace.changes(before, shrunk)) == [Change(path="out/b.txt", status="deleted")]


async def test_a_state_directory_inside_the_workspace_is_refused(repository: Path) -> None:
    workspace = GitWorkspace(repository, "r1", repository / "state")

    with pytest.raises(WorkspaceNotReady, match="--state-dir"):
        await workspace.snapshot("0")
    assert contents(repository) == {}


async def test_the_git_directory_may_hold_the_state(repository: Path) -> None:
    write(repository, {"a.txt": "1\n"})
    workspace = GitWorkspace(repository, "r1", repository / ".git" / "untilgreen")

    assert listed(repository, await workspace.snapshot("0")) == ["a.txt"]


@pytest.mark.parametrize("stranger", ["", "HEAD", "-h", "0" * 39, "g" * 40])
async def test_text_that_is_not_a_snapshot_is_refused_before_git_sees_it(
    stranger: str, workspace: GitWorkspace
) -> None:
    with pytest.raises(UserError, match="untilgreen show"):
        await workspace.restore(stranger, None)


async def test_snapshots_asked_for_at_once_follow_each_other(
    repository: Path, workspace: GitWorkspace, private: Path
) -> None:
    write(repository, {"a.txt": "1\n"})
    trees: list[str] = []

    async def take(keeper: GitWorkspace, label: str) -> None:
        trees.append(await keeper.snapshot(label))

    async with anyio.create_task_group() as group:
        for number in range(5):
            group.start_soon(take, workspace, f"same-{number}")
            group.start_soon(take, GitWorkspace(repository, "r1", private), f"other-{number}")

    assert len(set(trees)) == 1
    assert len(git(repository, "for-each-ref", "refs/untilgreen").splitlines()) == 10


@pytest.mark.parametrize("delay", [0.0, 0.002, 0.004, 0.008, 0.016, 0.03])
async def test_a_cancelled_snapshot_leaves_the_next_one_right(
    delay: float, repository: Path, workspace: GitWorkspace
) -> None:
    write(repository, {f"{number}.txt": f"{number}\n" * 500 for number in range(200)})
    with anyio.move_on_after(delay):
        await workspace.snapshot("cancelled")
    tree = await workspace.snapshot("0")

    assert len(listed(repository, tree)) == 200
    assert not list((repository / ".git").glob("*.lock"))


async def test_a_large_new_file_can_be_left_out_and_stays_where_it_is(workspace: GitWorkspace) -> None:
    workspace.max_file = 1_000
    first = await workspace.snapshot("0")
    write(workspace.root, {"[data].bin": "x" * 1_001, "small.txt": "x" * 1_000})

    second = await workspace.snapshot("1")
    await workspace.restore(first, second)

    assert set(listed(workspace.root, second)) - set(listed(workspace.root, first)) == {"small.txt"}
    assert (workspace.root / "[data].bin").stat().st_size == 1_001
    assert not (workspace.root / "small.txt").exists()
    assert workspace.warnings() == [
        "[data].bin (0 MB) is above workspace.max_file: "
        "snapshots leave it out, and a restore leaves it alone."
    ]


async def test_a_file_that_was_left_out_counts_as_what_no_snapshot_holds(workspace: GitWorkspace) -> None:
    workspace.max_file = 1_000
    write(workspace.root, {"data.bin": "x" * 1_001, "small.txt": "x"})
    await workspace.snapshot("0")

    assert await Exporter(workspace).unkept() == ["data.bin"]


async def test_a_file_that_git_tracks_is_kept_however_it_grows(workspace: GitWorkspace) -> None:
    workspace.max_file = 1_000
    write(workspace.root, {"grows.txt": "x"})
    first = await workspace.snapshot("0")
    write(workspace.root, {"grows.txt": "x" * 2_000})
    second = await workspace.snapshot("1")

    await workspace.restore(first, second)

    assert (workspace.root / "grows.txt").read_text() == "x"


async def test_a_large_file_is_named_when_git_stores_it(workspace: GitWorkspace) -> None:
    with (workspace.root / "huge.bin").open("wb") as file:
        file.truncate(NOTEWORTHY + 1)

    messages: list[str] = []
    workspace.tell = messages.append
    await workspace.snapshot("0")

    assert messages == workspace.warnings(), "it must be reported at once, and only once"
    (sentence,) = messages
    assert sentence.startswith("huge.bin (100 MB) is stored in git again")
