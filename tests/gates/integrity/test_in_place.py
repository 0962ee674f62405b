"""Gates run in the workspace itself if it can't be overlaid and is too large to copy."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.gates.integrity.helpers import Project, gate, ids
from tests.gates.integrity.test_rooms import BROKEN, SKIPPED, START
from tests.workspace.helpers import contents
from untilgreen.gates.integrity.trial_rooms import file_copies
from untilgreen.gates.integrity.trial_rooms.file_copies import LARGEST

pytestmark = pytest.mark.anyio
RIGHT = BROKEN.replace("-", "+")


@pytest.fixture
def project(tmp_path: Path, real_unittest: str) -> Project:
    gates = (gate(f"test -f data/large && {real_unittest} -q"),)
    return Project(tmp_path / "project", tmp_path / "private", gates, at_home=False)


async def begun(project: Project, calc: str) -> None:
    await project.begin({**START, "calc.py": calc, ".gitignore": "data/\n"})
    (project.root / "data").mkdir()
    with (project.root / "data" / "large").open("wb") as file:
        file.truncate(LARGEST + 1)  # sparse, so it takes no space on the disk


def files(project: Project) -> dict[str, bytes | str | None]:
    """The contents of all files, except the large one and Python's caches."""
    (project.root / "data" / "large").rename(project.private / "large")
    try:
        return {name: text for name, text in contents(project.root).items() if "__pycache__" not in name}
    finally:
        (project.private / "large").rename(project.root / "data" / "large")


async def test_a_weakened_test_is_found_in_the_workspace_itself(project: Project) -> None:
    await begun(project, BROKEN)

    verdict = await project.after({"test_calc.py": SKIPPED})

    assert (verdict.status, ids(verdict)[0]) == ("fail", "changed: test_calc.py")
    assert files(project)["test_calc.py"] == SKIPPED.encode()


async def test_an_honest_change_is_believed_and_everything_is_as_it_was(project: Project) -> None:
    await begun(project, BROKEN)

    verdict = await project.after({"calc.py": RIGHT, "test_calc.py": SKIPPED})

    assert verdict.status == "pass", verdict
    assert files(project)["calc.py"] == RIGHT.encode()
    assert files(project)["test_calc.py"] == SKIPPED.encode()


async def test_where_that_is_not_allowed_the_verdict_names_what_was_left_out(project: Project) -> None:
    await begun(project, RIGHT)
    workspace = project.workspace()
    context = project.context(await workspace.snapshot("1"))

    guard = replace(project.gate(workspace), in_place=False, clean_room=True)
    verdict = await guard.check(context)

    assert verdict.status == "error"
    said = verdict.excerpt + str([finding.message for finding in verdict.findings])
    assert "Left out of the copy, since ignored files may take up only 2 GB of it: data/large." in said


@pytest.mark.parametrize("shares", [True, False])
async def test_there_is_no_limit_where_copies_share_blocks(
    project: Project, monkeypatch: pytest.MonkeyPatch, shares: bool
) -> None:
    monkeypatch.setattr(file_copies, "_can_share", lambda room, top: shares)
    await begun(project, RIGHT)

    assert file_copies.too_much(project.private, project.root, ["data/"]) is not shares
