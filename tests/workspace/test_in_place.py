"""Other files are in the workspace for a while; its own are put back afterwards, whatever happens."""

import signal
import sys
from pathlib import Path

import anyio
import pytest

from tests.workspace.helpers import contents, git, write
from untilgreen.workspace.export import Exporter
from untilgreen.workspace.git_workspace import GitWorkspace

pytestmark = pytest.mark.anyio
BEGIN: dict[str, str | bytes] = {
    ".gitignore": "kept/\ncache/\n",
    "a.py": "1\n",
    "tests/test_a.py": "original\n",
}
NOW: dict[str, str | bytes] = {"a.py": "2\n", "tests/test_a.py": "weakened\n", "b.py": "new\n"}
UNKEPT: dict[str, str | bytes] = {"kept/data": "large\n", "cache/deep/lie": "stale\n"}
DYING = """\
import asyncio, os, sys
from pathlib import Path
from untilgreen.workspace.export import Exporter
from untilgreen.workspace.git_workspace import GitWorkspace

async def main(root, private, base, now):
    workspace = GitWorkspace(Path(root), "run", Path(private))
    tree = Exporter(workspace).in_place(
        now, originals=base, paths=["tests/test_a.py"], parts={"b.py": b"part"}, aside=["cache/"]
    )
    async with tree:
        os.kill(os.getpid(), 9)

asyncio.run(main(*sys.argv[1:]))
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    git(tmp_path, "init", "--quiet", "work")
    return tmp_path / "work"


async def two_trees(root: Path, workspace: GitWorkspace) -> tuple[str, str]:
    write(root, BEGIN)
    base = await workspace.snapshot("0")
    write(root, NOW | UNKEPT)
    return base, await workspace.snapshot("1")


async def test_a_tree_is_there_for_a_while_and_nothing_is_left_of_it(root: Path, tmp_path: Path) -> None:
    workspace = GitWorkspace(root, "run", tmp_path / "private")
    base, now = await two_trees(root, workspace)
    before = contents(root)

    async with Exporter(workspace).in_place(
        now, originals=base, paths=["tests/test_a.py"], parts={"b.py": b"part"}, aside=["cache/", "gone/"]
    ):
        meanwhile = contents(root)
        write(root, {"a.py": "written by a gate", "cache/made": "by a gate", "left.txt": "too"})

    assert meanwhile["tests/test_a.py"] == b"original\n"
    assert (meanwhile["b.py"], meanwhile["kept/data"]) == (b"part", b"large\n")
    assert not any(name.startswith("cache") for name in meanwhile)
    assert contents(root) == before
    assert not (tmp_path / "private" / "in-place.json").exists()


async def test_what_is_saved_meanwhile_is_kept_and_output_in_ignored_directories_stays(
    root: Path, tmp_path: Path
) -> None:
    workspace = GitWorkspace(root, "run", tmp_path / "private")
    base, now = await two_trees(root, workspace)

    async with Exporter(workspace).in_place(now, originals=base, paths=[], parts={}, aside=["cache/"]):
        write(root, {"a.py": "saved meanwhile\n", "kept/made": "by a gate\n"})

    assert (root / "a.py").read_text() == "2\n"
    assert (root / "kept" / "made").read_text() == "by a gate\n"
    trees = Exporter(workspace)
    kept = [await trees.content(tree, "a.py") for tree in await workspace.kept()]
    assert b"saved meanwhile\n" in kept


async def test_an_error_meanwhile_changes_nothing_about_that(root: Path, tmp_path: Path) -> None:
    workspace = GitWorkspace(root, "run", tmp_path / "private")
    base, now = await two_trees(root, workspace)
    before = contents(root)

    with pytest.raises(RuntimeError):
        async with Exporter(workspace).in_place(base, parts={}, aside=list(UNKEPT)):
            raise RuntimeError

    assert contents(root) == before
    assert await workspace.snapshot("2") == now


@pytest.mark.parametrize("point", ["", "before:files", "after:files", "before:return", "after:return"])
async def test_after_a_kill_everything_returns_before_the_files_are_looked_at(
    root: Path, tmp_path: Path, point: str
) -> None:
    workspace = GitWorkspace(root, "run", tmp_path / "private")
    base, now = await two_trees(root, workspace)
    before = contents(root)
    code = DYING if not point else DYING.replace("os.kill(os.getpid(), 9)", "pass")
    crash = {"UNTILGREEN_CRASH_AT": f"in-place:{point}#1"} if point else {}

    ended = await anyio.run_process(
        [sys.executable, "-c", code, str(root), str(tmp_path / "private"), base, now],
        env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), **crash},
        check=False,
    )

    assert ended.returncode == -signal.SIGKILL
    later = GitWorkspace(root, "run", tmp_path / "private")
    assert await later.snapshot("2") == now
    assert contents(root) == before


@pytest.mark.parametrize("restored", [True, False], ids=["restored", "stopped"])
async def test_after_a_kill_everything_returns_where_the_run_does_not_continue(
    root: Path, tmp_path: Path, restored: bool
) -> None:
    base, now = await two_trees(root, GitWorkspace(root, "run", tmp_path / "private"))
    before, env = contents(root), {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    command = [sys.executable, "-c", DYING, str(root), str(tmp_path / "private"), base, now]
    await anyio.run_process(command, env=env, check=False)
    assert contents(root) != before

    later = GitWorkspace(root, "run", tmp_path / "private")
    await (later.restore(now, None) if restored else later.recover())

    assert contents(root) == before
