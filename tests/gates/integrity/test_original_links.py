"""Where the agent made a directory of an original link or file, nothing is written to where that leads."""

from pathlib import Path

import pytest

from tests.gates.integrity.helpers import Project, gate, git, ids, write

pytestmark = pytest.mark.anyio
THEIRS = "of = 'the user'\n"
TOOLS = "[tool.pytest.ini_options]\naddopts = '-x'\n[project]\nname = 'of the agent'\n"


@pytest.mark.parametrize("at_home", [True, False], ids=["at its own path", "elsewhere"])
@pytest.mark.parametrize("original", ["link", "file"])
async def test_a_file_that_is_put_back_in_part_is_not_written_through_an_original(
    tmp_path: Path, original: str, at_home: bool
) -> None:
    write(tmp_path / "shared", {"pyproject.toml": THEIRS})
    gates = (gate("grep -q weak test_it.sh"),)
    project = Project(tmp_path / "project", tmp_path / "private", gates, at_home=at_home)
    write(project.root, {"test_it.sh": "strict\n"})
    git(project.root, "init", "--quiet")
    folder = project.root / "test-data"
    if original == "link":
        folder.symlink_to(tmp_path / "shared")
    else:
        folder.touch()
    project.base = await project.workspace().snapshot("0")
    folder.unlink()

    verdict = await project.after({"test_it.sh": "weak\n", "test-data/pyproject.toml": TOOLS})

    assert verdict.status == "fail"
    assert "changed: test-data" in ids(verdict)
    assert (tmp_path / "shared" / "pyproject.toml").read_text() == THEIRS
