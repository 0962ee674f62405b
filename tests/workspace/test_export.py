"""Files that no snapshot contains are looked for again whenever they may have changed, and only then."""

from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from tests.workspace.helpers import commit, git, put_in_front_of_git, write
from untilgreen.workspace.export import Exporter
from untilgreen.workspace.file_stamps import FRESH_NANOSECONDS
from untilgreen.workspace.git_workspace import GitWorkspace


@pytest.fixture
async def exporter(workspace: GitWorkspace) -> Exporter:
    write(workspace.root, {".gitignore": "built/\n*.log\n", "kept.txt": "1\n", "built/a": "1\n"})
    commit(workspace.root)
    await workspace.snapshot("0")
    return Exporter(workspace)


def another_ignored_file(root: Path) -> None:
    write(root, {"new.log": "1\n"})


def an_ignored_file_that_goes(root: Path) -> None:
    (root / "built" / "a").unlink()
    (root / "built").rmdir()


def a_nested_repository(root: Path) -> None:
    git(root, "init", "--quiet", "inner")


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (another_ignored_file, ["built/", "new.log"]),
        (an_ignored_file_that_goes, []),
        (a_nested_repository, ["built/", "inner/"]),
    ],
)
async def test_a_change_is_seen(
    workspace: GitWorkspace, exporter: Exporter, change: Callable[[Path], None], found: list[str]
) -> None:
    assert await exporter.unkept() == ["built/"]

    change(workspace.root)

    assert await exporter.unkept() == found


async def test_a_new_rule_is_seen(workspace: GitWorkspace, exporter: Exporter) -> None:
    write(workspace.root, {"new.txt": "1\n"})
    await anyio.sleep(FRESH_NANOSECONDS / 1e9)
    assert await exporter.unkept() == ["built/"]

    write(workspace.root, {".gitignore": "built/\nnew.*\n"})

    assert await exporter.unkept() == ["built/", "new.txt"]


async def test_git_is_not_asked_again_about_the_same_files(
    workspace: GitWorkspace, exporter: Exporter, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    await anyio.sleep(FRESH_NANOSECONDS / 1e9)  # a younger file could change again without showing it
    first = await exporter.unkept()
    put_in_front_of_git(tmp_path, monkeypatch, "sys.exit(1)\n")

    assert await exporter.unkept() == first == ["built/"]
