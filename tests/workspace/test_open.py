"""The right kind of workspace for each directory, and trouble told before the work begins."""

from pathlib import Path

import pytest

from tests.workspace.helpers import contents, git, write
from untilgreen.errors import WorkspaceNotReady
from untilgreen.workspace.directory import DirectoryWorkspace
from untilgreen.workspace.git import GitWorkspace
from untilgreen.workspace.open import open_workspace


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


async def test_opening_touches_no_file_and_names_no_trouble_where_there_is_none(
    repository: Path, private: Path
) -> None:
    write(repository, {"a.txt": "1\n"})
    workspace = await open_workspace(repository, "r1", private)

    assert workspace.warnings() == []
    assert contents(repository) == {"a.txt": b"1\n"}
    assert git(repository, "for-each-ref") == ""


async def test_what_stands_in_the_way_is_told_when_opening(tmp_path: Path, private: Path) -> None:
    git(tmp_path, "init", "--quiet", "--bare", "bare.git")

    with pytest.raises(WorkspaceNotReady, match="bare"):
        await open_workspace(tmp_path / "bare.git", "r1", private)
    with pytest.raises(WorkspaceNotReady, match="no directory"):
        await open_workspace(tmp_path / "gone", "r1", private)


async def test_a_directory_stays_one_although_an_agent_makes_a_repository_of_it(
    tmp_path: Path, private: Path
) -> None:
    """The filters of that repository would be programs of the agent's choice."""
    place = tmp_path / "plain"
    write(place, {"a.txt": "1\n", ".gitattributes": "* filter=agent\n"})
    await (await open_workspace(place, "r1", private)).snapshot("0")
    git(place, "init", "--quiet")
    git(place, "config", "filter.agent.clean", f"touch {tmp_path / 'ran'}; cat")
    write(place, {"a.txt": "2\n"})

    await (await open_workspace(place, "r1", private)).snapshot("1")

    assert not (tmp_path / "ran").exists()
