"""What is put back in the workspace goes nowhere else, whatever a gate or an agent made of its folders."""

from pathlib import Path

import pytest

from tests.workspace.helpers import contents, git, write
from untilgreen.workspace.export import Exporter
from untilgreen.workspace.git_workspace import GitWorkspace

pytestmark = pytest.mark.anyio


@pytest.fixture
def root(tmp_path: Path) -> Path:
    git(tmp_path, "init", "--quiet", "work")
    write(tmp_path / "home", {"settings.cfg": "of the user\n"})
    return tmp_path / "work"


async def test_a_link_that_a_gate_put_in_place_of_a_folder_costs_nobody_a_file(
    root: Path, tmp_path: Path
) -> None:
    workspace = GitWorkspace(root, "run", tmp_path / "private")
    write(root, {".gitignore": "build\n", "build/settings.cfg": "of the agent\n"})
    now = await workspace.snapshot("0")

    async with Exporter(workspace).in_place(now, parts={}, aside=["build/settings.cfg"]):
        (root / "build").rmdir()
        (root / "build").symlink_to(tmp_path / "home")

    assert contents(tmp_path / "home") == {"settings.cfg": b"of the user\n"}
    assert (root / "build" / "settings.cfg").read_text() == "of the agent\n"
    assert not (root / "build").is_symlink()


async def test_what_lies_behind_a_link_is_not_moved_aside(root: Path, tmp_path: Path) -> None:
    workspace = GitWorkspace(root, "run", tmp_path / "private")
    root.joinpath("build").symlink_to(tmp_path / "home")
    now = await workspace.snapshot("0")

    async with Exporter(workspace).in_place(now, parts={}, aside=["build/settings.cfg"]):
        meanwhile = contents(tmp_path / "home")

    assert meanwhile == {"settings.cfg": b"of the user\n"}


async def test_no_part_of_a_file_is_written_through_an_original_link(root: Path, tmp_path: Path) -> None:
    workspace = GitWorkspace(root, "run", tmp_path / "private")
    root.joinpath("tests").symlink_to(tmp_path / "home")
    base = await workspace.snapshot("0")
    (root / "tests").unlink()
    write(root, {"tests/settings.cfg": "of the agent\n"})
    now = await workspace.snapshot("1")

    async with Exporter(workspace).in_place(
        now, originals=base, paths=["tests"], parts={"tests/settings.cfg": b"part"}, aside=[]
    ):
        meanwhile = contents(tmp_path / "home")

    assert meanwhile == {"settings.cfg": b"of the user\n"}
    assert contents(root)["tests/settings.cfg"] == b"of the agent\n"
