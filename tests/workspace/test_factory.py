"""The right kind of workspace for each directory, and problems reported before work begins."""

from pathlib import Path

import pytest

from tests.workspace.helpers import commit, contents, git, write
from untilgreen.errors import WorkspaceNotReady
from untilgreen.workspace.factory import DirectoryWorkspace, open_workspace
from untilgreen.workspace.git_workspace import GitWorkspace


async def test_a_repository_opens_as_one_and_a_directory_as_one(
    repository: Path, tmp_path: Path, private: Path
) -> None:
    write(repository, {".gitignore": "scratch/\n", "part/a.txt": "1\n", "scratch/a.txt": "1\n"})
    (tmp_path / "plain").mkdir()
    kinds = [
        type(await open_workspace(place, "r1", private / str(number)))
        for number, place in enumerate(
            [repository, repository / "part", repository / "scratch", tmp_path / "plain"]
        )
    ]

    assert kinds == [GitWorkspace, GitWorkspace, DirectoryWorkspace, DirectoryWorkspace]


async def test_opening_touches_no_file_and_reports_no_problem_where_there_is_none(
    repository: Path, private: Path
) -> None:
    write(repository, {"a.txt": "1\n"})
    workspace = await open_workspace(repository, "r1", private)

    assert workspace.warnings() == []
    assert contents(repository) == {"a.txt": b"1\n"}
    assert git(repository, "for-each-ref") == ""


async def test_what_prevents_the_work_is_reported_when_opening(tmp_path: Path, private: Path) -> None:
    git(tmp_path, "init", "--quiet", "--bare", "bare.git")

    with pytest.raises(WorkspaceNotReady, match="bare"):
        await open_workspace(tmp_path / "bare.git", "r1", private)
    with pytest.raises(WorkspaceNotReady, match=r"does not exist|no directory"):
        await open_workspace(tmp_path / "gone", "r1", private)


async def test_a_directory_stays_one_although_an_agent_makes_a_repository_of_it(
    tmp_path: Path, private: Path
) -> None:
    """That repository's filters would be programs of the agent's choosing."""
    place = tmp_path / "plain"
    write(place, {"a.txt": "1\n", ".gitattributes": "* filter=agent\n"})
    await (await open_workspace(place, "r1", private)).snapshot("0")
    git(place, "init", "--quiet")
    git(place, "config", "filter.agent.clean", f"touch {tmp_path / 'ran'}; cat")
    write(place, {"a.txt": "2\n"})

    workspace = await open_workspace(place, "r1", private)
    await workspace.snapshot("1")

    assert isinstance(workspace, DirectoryWorkspace)
    assert not (tmp_path / "ran").exists()


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    place = tmp_path / "plain"
    place.mkdir()
    return place


async def test_nothing_is_left_in_the_directory(plain: Path, private: Path) -> None:
    write(plain, {"a.txt": "1\n", "node_modules/x/y.js": "1\n", ".hidden": "1\n"})
    before_files = contents(plain)
    workspace = DirectoryWorkspace(plain, "r1", private)
    before = await workspace.snapshot("0")
    write(plain, {"a.txt": "2\n", "node_modules/x/y.js": "2\n", ".hidden": "2\n", "new/b.txt": "1\n"})
    after = await workspace.snapshot("1")
    await workspace.restore(before, after)

    assert contents(plain) == before_files
    assert not (plain / ".git").exists()
    assert len(await workspace.changes(before, after)) == 4


async def test_a_gitignore_in_the_directory_counts(plain: Path, private: Path) -> None:
    write(plain, {".gitignore": "*.log\n", "debug.log": "1\n"})
    workspace = DirectoryWorkspace(plain, "r1", private)
    before = await workspace.snapshot("0")
    write(plain, {"debug.log": "2\n"})

    assert await workspace.snapshot("1") == before


async def test_a_later_driver_brings_back_what_an_earlier_one_kept(plain: Path, private: Path) -> None:
    write(plain, {"a.txt": "1\n"})
    before = await DirectoryWorkspace(plain, "r1", private).snapshot("0")
    write(plain, {"a.txt": "2\n"})
    later = DirectoryWorkspace(plain, "r1", private)
    git(plain, "--git-dir", str(private / "git"), "gc", "--quiet", "--prune=now")
    await later.restore(before, None)

    assert contents(plain) == {"a.txt": b"1\n"}


async def test_repositories_in_the_directory_are_left_alone(plain: Path, private: Path) -> None:
    write(plain, {"project/a.txt": "1\n", "notes.txt": "1\n"})
    git(plain / "project", "init", "--quiet")
    commit(plain / "project")
    workspace = DirectoryWorkspace(plain, "r1", private)
    empty = await workspace.snapshot("0")
    write(plain, {"project/a.txt": "2\n"})

    assert await workspace.snapshot("1") == empty
    assert [warning for warning in workspace.warnings() if "project" in warning]


async def test_line_ends_stay_as_they_are(plain: Path, private: Path) -> None:
    write(plain, {".gitattributes": "* text=auto eol=crlf\n", "a.txt": b"1\r\n2\n"})
    workspace = DirectoryWorkspace(plain, "r1", private)
    before = await workspace.snapshot("0")
    write(plain, {"a.txt": "other\n"})
    await workspace.restore(before, await workspace.snapshot("1"))

    assert (plain / "a.txt").read_bytes() == b"1\r\n2\n"


async def test_the_home_directory_and_all_above_it_are_refused(
    plain: Path, private: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(plain / "home"))
    (plain / "home" / "project").mkdir(parents=True)

    for place in (plain / "home", plain, Path("/")):
        with pytest.raises(WorkspaceNotReady, match="Start in the directory of your project"):
            await DirectoryWorkspace(place, "r1", private).snapshot("0")
    assert await DirectoryWorkspace(plain / "home" / "project", "r1", private).snapshot("0")


async def test_a_directory_that_is_not_there_is_refused(tmp_path: Path, private: Path) -> None:
    with pytest.raises(WorkspaceNotReady, match=r"does not exist|no directory"):
        await DirectoryWorkspace(tmp_path / "gone", "r1", private).snapshot("0")
