"""A restore loses nothing: no ignored files, no changes by others, nothing when it is cut off."""

import os
from pathlib import Path

import anyio
import msgspec
import pytest
from anyio.lowlevel import checkpoint

from tests.workspace.helpers import commit, contents, git, put_in_front_of_git, write
from untilgreen.errors import WorkspaceNotReady
from untilgreen.workspace.git.tree_diff import Difference
from untilgreen.workspace.git_workspace import GitWorkspace
from untilgreen.workspace.restore import Intent, Intents, in_the_way


async def test_what_a_snapshot_ignores_is_not_deleted_when_a_later_one_had_it(
    repository: Path, workspace: GitWorkspace
) -> None:
    """The agent removed a rule, so its snapshot has the user's `.env`; going back must not delete it."""
    write(repository, {".gitignore": ".env\nbuild/\n", "a.txt": "1\n"})
    write(repository, {".env": "KEY=precious\n", "build/out.txt": "1\n"})
    before = await workspace.snapshot("0")
    write(repository, {".gitignore": "", "a.txt": "2\n", "b.txt": "new\n"})
    after = await workspace.snapshot("1")
    done = await workspace.restore(before, after)

    assert {".env", "build/out.txt"} <= {change.path for change in await workspace.changes(before, after)}
    assert done.kept == ()
    assert contents(repository) == {
        ".env": b"KEY=precious\n",
        ".gitignore": b".env\nbuild/\n",
        "a.txt": b"1\n",
        "build/out.txt": b"1\n",
    }
    assert await workspace.snapshot("2") == before


async def test_a_rule_file_that_goes_away_leaves_what_it_ignored(
    repository: Path, workspace: GitWorkspace
) -> None:
    write(repository, {"a.txt": "1\n"})
    before = await workspace.snapshot("0")
    write(repository, {"sub/.gitignore": "*.log\n", "sub/debug.log": "1\n", "a.txt": "2\n"})
    await workspace.restore(before, await workspace.snapshot("1"))

    assert contents(repository) == {"a.txt": b"1\n", "sub/debug.log": b"1\n"}


async def test_an_ignored_file_in_the_way_is_kept_before_it_is_replaced(
    repository: Path, workspace: GitWorkspace
) -> None:
    write(repository, {".gitignore": "*.log\n", "kept.log": "tracked\n", "dir.log/in.txt": "tracked\n"})
    git(repository, "add", "--force", ".")
    before = await workspace.snapshot("0")
    (repository / "kept.log").unlink()
    (repository / "dir.log" / "in.txt").unlink()
    (repository / "dir.log").rmdir()
    after = await workspace.snapshot("1")
    write(repository, {"kept.log": "ignored now\n", "dir.log": "ignored now\n"})
    assert await workspace.snapshot("2") == after
    done = await workspace.restore(before, after)

    assert contents(repository) == {
        ".gitignore": b"*.log\n",
        "dir.log/in.txt": b"tracked\n",
        "kept.log": b"tracked\n",
    }
    assert git(repository, "show", f"{done.before}:kept.log") == "ignored now\n"
    assert git(repository, "show", f"{done.before}:dir.log") == "ignored now\n"


async def test_ignored_files_in_a_directory_where_a_file_has_to_be_are_kept_first(
    repository: Path, workspace: GitWorkspace
) -> None:
    write(repository, {".gitignore": "__pycache__/\n", "module": "a file\n"})
    before = await workspace.snapshot("0")
    (repository / "module").unlink()
    write(repository, {"module/code.py": "1\n", "module/__pycache__/code.pyc": "2\n"})
    after = await workspace.snapshot("1")
    done = await workspace.restore(before, None)

    assert contents(repository) == {".gitignore": b"__pycache__/\n", "module": b"a file\n"}
    assert git(repository, "show", f"{done.before}:module/__pycache__/code.pyc") == "2\n"
    assert [change.path for change in await workspace.changes(after, done.before)] == [
        "module/__pycache__/code.pyc"
    ]


async def test_a_repository_in_the_way_of_a_file_stays_and_is_named(
    repository: Path, workspace: GitWorkspace
) -> None:
    write(repository, {"place": "a file\n", "a.txt": "1\n"})
    before = await workspace.snapshot("0")
    (repository / "place").unlink()
    write(repository, {"place/inner/own.txt": "1\n", "a.txt": "2\n"})
    git(repository / "place" / "inner", "init", "--quiet")
    done = await workspace.restore(before, await workspace.snapshot("1"))

    assert done.kept == ("place",)
    assert contents(repository) == {"a.txt": b"1\n", "place/inner/own.txt": b"1\n"}
    assert (repository / "place/inner/.git/HEAD").exists()


async def test_a_persons_file_is_not_replaced_by_a_directory(
    repository: Path, workspace: GitWorkspace
) -> None:
    write(repository, {"place/a.txt": "1\n", "place/b.txt": "1\n"})
    before = await workspace.snapshot("0")
    (repository / "place" / "b.txt").unlink()
    known = await workspace.snapshot("1")
    (repository / "place" / "a.txt").unlink()
    (repository / "place").rmdir()
    write(repository, {"place": "somebody's\n"})
    done = await workspace.restore(before, known)

    assert contents(repository) == {"place": b"somebody's\n"}
    assert "place" in done.kept


async def test_every_restore_can_be_undone_by_its_own_ref(repository: Path, workspace: GitWorkspace) -> None:
    write(repository, {"a.txt": "1\n"})
    first = await workspace.snapshot("0")
    ways_back = []
    for number in range(3):
        write(repository, {"a.txt": f"never in a snapshot {number}\n"})
        ways_back.append((await workspace.restore(first, None)).before)
    refs = git(repository, "for-each-ref", "--format=%(objectname)", "refs/untilgreen/r1/before-restore*")

    assert sorted(refs.split()) == sorted(ways_back)
    for number, before in enumerate(ways_back):
        await workspace.restore(before, None)
        assert contents(repository) == {"a.txt": f"never in a snapshot {number}\n".encode()}


async def test_a_restore_of_what_is_there_changes_nothing(repository: Path, workspace: GitWorkspace) -> None:
    write(repository, {"a.txt": "1\n"})
    first = await workspace.snapshot("0")
    seen = (repository / "a.txt").stat()
    done = await workspace.restore(first, first)

    assert (done.before, done.kept) == (first, ())
    assert (repository / "a.txt").stat().st_mtime_ns == seen.st_mtime_ns
    assert (repository / "a.txt").stat().st_ino == seen.st_ino


async def test_a_restore_that_was_cut_off_is_finished_by_the_next(
    repository: Path, workspace: GitWorkspace, private: Path
) -> None:
    write(repository, {"a.txt": "1\n", "b.txt": "1\n", "c.txt": "1\n", "mine.txt": "1\n"})
    first = await workspace.snapshot("0")
    write(repository, {"a.txt": "2\n", "b.txt": "2\n", "c.txt": "2\n"})
    second = await workspace.snapshot("1")
    Intents(private).write(Intent(snapshot=first, before=second, after=first))
    write(repository, {"a.txt": "1\n", "b.txt": "", "mine.txt": "edited meanwhile\n"})
    (repository / "c.txt").unlink()
    done = await GitWorkspace(repository, "r1", private).restore(first, second)

    assert done.kept == ("mine.txt",)
    assert done.before == second
    assert contents(repository) == {
        "a.txt": b"1\n",
        "b.txt": b"1\n",
        "c.txt": b"1\n",
        "mine.txt": b"edited meanwhile\n",
    }


async def test_a_snapshot_ends_the_story_of_a_restore_that_was_cut_off(
    repository: Path, workspace: GitWorkspace, private: Path
) -> None:
    write(repository, {"a.txt": "1\n"})
    first = await workspace.snapshot("0")
    write(repository, {"a.txt": "2\n"})
    second = await workspace.snapshot("1")
    Intents(private).write(Intent(snapshot=first, before=second, after=first))
    known = await workspace.snapshot("2")
    write(repository, {"a.txt": "somebody's\n"})
    done = await workspace.restore(first, known)

    assert (done.kept, contents(repository)) == (("a.txt",), {"a.txt": b"somebody's\n"})


async def test_a_restore_leaves_no_note_behind(
    repository: Path, workspace: GitWorkspace, private: Path
) -> None:
    write(repository, {"a.txt": "1\n"})
    first = await workspace.snapshot("0")
    write(repository, {"a.txt": "2\n"})
    await workspace.restore(first, None)

    assert Intents(private).read() is None
    assert not (private / "git" / "index.lock").exists()


async def test_a_restore_is_noted_before_the_first_file_is_touched(
    repository: Path, workspace: GitWorkspace, private: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(repository, {"a.txt": "1\n"})
    first = await workspace.snapshot("0")
    write(repository, {"a.txt": "2\n"})
    second = await workspace.snapshot("1")
    note, found = str(private / "restoring.json"), tmp_path / "found"
    code = f"if '-u' in rest: open({str(found)!r}, 'w').write(open({note!r}).read())\n"
    put_in_front_of_git(tmp_path, monkeypatch, code)
    await workspace.restore(first, second)

    assert msgspec.json.decode(found.read_bytes(), type=Intent) == Intent(
        snapshot=first, before=second, after=first
    )


@pytest.mark.parametrize("delay", [0.0, 0.01, 0.03])
async def test_a_restore_that_is_cancelled_before_it_writes_changes_nothing(
    delay: float, repository: Path, workspace: GitWorkspace, private: Path
) -> None:
    write(repository, {"a.txt": "old\n"})
    first = await workspace.snapshot("0")
    write(repository, {"a.txt": "new\n"})
    second = await workspace.snapshot("1")
    with anyio.move_on_after(delay) as scope:
        await workspace.restore(first, second)
    left = contents(repository)
    done = await workspace.restore(first, second)

    assert left == {"a.txt": b"new\n" if scope.cancelled_caught else b"old\n"}
    assert (done.kept, contents(repository)) == ((), {"a.txt": b"old\n"})


async def test_a_restore_that_has_begun_to_write_is_finished_before_it_is_cancelled(
    repository: Path, workspace: GitWorkspace, private: Path
) -> None:
    write(repository, {f"{number}.txt": "old\n" * 100 for number in range(200)})
    first = await workspace.snapshot("0")
    write(repository, {f"{number}.txt": "new\n" for number in range(200)})
    second = await workspace.snapshot("1")

    async with anyio.create_task_group() as group:
        group.start_soon(workspace.restore, first, second)
        with anyio.fail_after(30):
            while Intents(private).read() is None:
                await checkpoint()
        group.cancel_scope.cancel()

    assert set(contents(repository).values()) == {b"old\n" * 100}
    assert Intents(private).read() is None


def write_once(home: Path, file: Path) -> str:
    """Code that writes a file right before git changes files for the first time."""
    return (
        f"if verb == 'read-tree' and not os.path.exists({str(home / 'once')!r}):\n"
        f"    open({str(home / 'once')!r}, 'w').close()\n"
        f"    open({str(file)!r}, 'w').write('at the last moment\\n')\n"
    )


async def test_what_somebody_writes_while_files_are_compared_stays(
    repository: Path, workspace: GitWorkspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(repository, {"a.txt": "1\n", "b.txt": "1\n"})
    first = await workspace.snapshot("0")
    write(repository, {"a.txt": "2\n", "b.txt": "2\n"})
    second = await workspace.snapshot("1")
    put_in_front_of_git(tmp_path, monkeypatch, write_once(tmp_path, repository / "a.txt"))
    done = await workspace.restore(first, second)

    assert (tmp_path / "once").exists()
    assert done.kept == ("a.txt",)
    assert contents(repository) == {"a.txt": b"at the last moment\n", "b.txt": b"1\n"}
    assert git(repository, "show", f"{done.before}:a.txt") == "at the last moment\n"


async def test_a_restore_that_was_cut_off_and_then_raced_still_knows_its_own_work(
    repository: Path, private: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(repository, {"a.txt": "1\n", "b.txt": "1\n"})
    workspace = GitWorkspace(repository, "r1", private)
    first = await workspace.snapshot("0")
    write(repository, {"a.txt": "2\n", "b.txt": "2\n"})
    second = await workspace.snapshot("1")
    Intents(private).write(Intent(snapshot=first, before=second, after=first))
    write(repository, {"b.txt": ""})
    put_in_front_of_git(tmp_path, monkeypatch, write_once(tmp_path, repository / "a.txt"))
    done = await workspace.restore(first, second)

    assert (tmp_path / "once").exists()
    assert (done.before, done.kept) == (second, ())
    assert contents(repository) == {"a.txt": b"1\n", "b.txt": b"1\n"}


async def test_files_that_keep_changing_are_reported_to_the_user(
    repository: Path, workspace: GitWorkspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(repository, {"a.txt": "1\n"})
    first = await workspace.snapshot("0")
    write(repository, {"a.txt": "2\n"})
    put_in_front_of_git(
        tmp_path,
        monkeypatch,
        f"if verb == 'read-tree': open({str(repository / 'a.txt')!r}, 'a').write('more\\n')\n",
    )

    with pytest.raises(WorkspaceNotReady, match=r"a\.txt.*Another program is writing these files"):
        await workspace.restore(first, None)


async def test_a_restore_that_gave_up_does_not_later_mistake_a_persons_files_for_its_own(
    repository: Path, workspace: GitWorkspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody writes one file after another, each just as files are about to change."""
    names = ["a.txt", "b.txt", "c.txt", "d.txt"]
    write(repository, dict.fromkeys(names, "1\n"))
    first = await workspace.snapshot("0")
    write(repository, dict.fromkeys(names, "2\n"))
    second = await workspace.snapshot("1")
    code = (
        f"place = {str(repository)!r}\n"
        f"left = [name for name in {names[:3]!r} if open(os.path.join(place, name)).read() != 'mine\\n']\n"
        "if '-u' in rest and left: open(os.path.join(place, left[0]), 'w').write('mine\\n')\n"
    )
    put_in_front_of_git(tmp_path, monkeypatch, code)
    with pytest.raises(WorkspaceNotReady, match=r"c\.txt.*Another program is writing these files"):
        await workspace.restore(first, second)

    done = await workspace.restore(first, second)

    assert done.kept == ("a.txt", "b.txt", "c.txt")
    assert contents(repository) == {**dict.fromkeys(names[:3], b"mine\n"), "d.txt": b"1\n"}


async def test_a_missing_smudge_filter_is_named_and_the_restore_can_be_repeated(
    repository: Path, workspace: GitWorkspace, private: Path
) -> None:
    git(repository, "config", "--global", "filter.lock.clean", "cat")
    git(repository, "config", "--global", "filter.lock.smudge", "no-such-program-of-a-filter")
    git(repository, "config", "--global", "filter.lock.required", "true")
    write(repository, {".gitattributes": "*.bin filter=lock\n", "a.txt": "1\n", "b.bin": "1\n"})
    first = await workspace.snapshot("0")
    write(repository, {"a.txt": "2\n", "b.bin": "2\n"})
    second = await workspace.snapshot("1")
    with pytest.raises(WorkspaceNotReady, match="Install the program"):
        await workspace.restore(first, second)
    git(repository, "config", "--global", "filter.lock.smudge", "cat")
    workspace = GitWorkspace(repository, "r1", private)
    done = await workspace.restore(first, second)

    assert done.kept == ()
    assert done.before == second
    assert contents(repository)["a.txt"] == contents(repository)["b.bin"] == b"1\n"


def test_only_what_git_does_not_know_is_in_the_way(tmp_path: Path) -> None:
    write(tmp_path, {"known": "1\n", "stranger": "1\n", "folder/known": "1\n", "folder/stranger": "1\n"})
    (tmp_path / "folder" / "link").symlink_to("nowhere")

    def planned(path: str, *, added: bool) -> Difference:
        modes = (b"000000", b"100644") if added else (b"100644", b"000000")
        return Difference(path.encode(), *modes, b"0", b"0")

    gone = [planned("known", added=False), planned("folder/known", added=False)]
    new = [planned(path, added=True) for path in ("known/x", "stranger/x/y", "folder", "free/x")]

    assert in_the_way(str(tmp_path).encode(), [*gone, *new]) == (
        {b"stranger", b"folder/stranger", b"folder/link"},
        set(),
    )


async def test_committing_and_switching_branches_meanwhile_does_no_harm(
    repository: Path, workspace: GitWorkspace
) -> None:
    write(repository, {"a.txt": "1\n"})
    commit(repository)
    first = await workspace.snapshot("0")
    git(repository, "checkout", "--quiet", "-b", "agent")
    write(repository, {"a.txt": "2\n", "b.txt": "2\n"})
    commit(repository)
    second = await workspace.snapshot("1")
    await workspace.restore(first, second)

    assert contents(repository) == {"a.txt": b"1\n"}
    assert git(repository, "branch", "--show-current") == "agent\n"
    assert git(repository, "status", "--porcelain") == " M a.txt\n D b.txt\n"


async def test_a_file_that_was_written_again_with_the_same_bytes_does_not_block_a_restore(
    repository: Path, workspace: GitWorkspace
) -> None:
    write(repository, {"a.txt": "1\n", "b.txt": "1\n"})
    commit(repository)
    first = await workspace.snapshot("0")
    write(repository, {"a.txt": "2\n", "new.txt": "1\n"})  # a new name makes git write the index
    second = await workspace.snapshot("1")
    for name in ("a.txt", "b.txt"):
        os.utime(repository / name, (2_000_000_000, 2_000_000_000))

    done = await workspace.restore(first, second)

    assert done.kept == ()
    assert contents(repository) == {"a.txt": b"1\n", "b.txt": b"1\n"}
