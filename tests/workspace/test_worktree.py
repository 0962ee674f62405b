"""A worktree ends as one commit, whatever an agent did to git's files about it."""

from pathlib import Path

import pytest

from tests.workspace.helpers import commit, git, write
from untilgreen.errors import WorkspaceNotReady
from untilgreen.workspace.worktree import Worktree

pytestmark = pytest.mark.anyio
KEY = "ssh-ed25519 AAAA mine\n"


@pytest.fixture
async def worktree(repository: Path, tmp_path: Path) -> Worktree:
    write(repository, {"a.txt": "1\n"})
    commit(repository)
    found = Worktree(path=tmp_path / "state" / "tree", repository=repository / ".git", run="r1")
    await found.make(git(repository, "rev-parse", "HEAD").strip(), repository)
    return found


def tree_of(worktree: Worktree) -> str:
    write(worktree.path, {"a.txt": "2\n", "new.txt": "1\n"})
    git(worktree.path, "add", "-A")
    return git(worktree.path, "write-tree").strip()


async def end(worktree: Worktree, tree: str) -> str | None:
    return await worktree.commit(tree, await worktree.head() or "", "the result", 1_700_000_000.0)


async def test_the_worktree_has_its_result_checked_out(repository: Path, worktree: Worktree) -> None:
    made = await end(worktree, tree_of(worktree))

    assert made is not None
    assert git(worktree.path, "status", "--porcelain") == ""
    assert git(worktree.path, "rev-parse", "HEAD").strip() == made
    assert git(repository, "rev-parse", "untilgreen/r1").strip() == made


async def test_git_stays_in_a_worktree_without_its_git_below_another_repository(
    repository: Path, worktree: Worktree
) -> None:
    git(worktree.path.parent, "init", "--quiet")
    (worktree.path / ".git").unlink()

    assert Path((await worktree.inside("rev-parse", "--show-toplevel")).decode().strip()) == worktree.path
    assert (await worktree.inside("rev-parse", "HEAD")).decode() == git(repository, "rev-parse", "HEAD")


async def test_links_in_place_of_what_git_writes_are_replaced_and_not_followed(
    repository: Path, worktree: Worktree, tmp_path: Path
) -> None:
    """An agent in a sandbox can create these links; the driver, outside it, must not write through them."""
    tree = tree_of(worktree)
    (admin,) = worktree.admins()
    victims = {name: tmp_path / f"victim-{name}" for name in ("index", "HEAD", "log", "head-log")}
    for victim in victims.values():
        victim.write_text(KEY)
    branch_log = repository / ".git" / "logs" / "refs" / "heads" / "untilgreen" / "r1"
    branch_log.parent.mkdir(parents=True, exist_ok=True)
    (admin / "logs").mkdir(exist_ok=True)
    parent = git(repository, "rev-parse", "HEAD").strip()
    for link, name in (
        (admin / "index", "index"),
        (admin / "HEAD", "HEAD"),
        (branch_log, "log"),
        (admin / "logs" / "HEAD", "head-log"),
    ):
        link.unlink(missing_ok=True)
        link.symlink_to(victims[name])

    made = await worktree.commit(tree, parent, "the result", 1_700_000_000.0)

    assert {name: victim.read_text() for name, victim in victims.items()} == dict.fromkeys(victims, KEY)
    assert git(repository, "rev-parse", "untilgreen/r1").strip() == made
    assert git(worktree.path, "status", "--porcelain") == ""


async def test_a_branch_that_an_agent_made_a_name_for_another_moves_only_itself(
    repository: Path, worktree: Worktree
) -> None:
    tree = tree_of(worktree)
    before = git(repository, "rev-parse", "main").strip()
    ref = repository / ".git" / "refs" / "heads" / "untilgreen" / "r1"
    ref.write_text("ref: refs/heads/main\n")

    made = await end(worktree, tree)

    assert git(repository, "rev-parse", "main").strip() == before
    assert git(repository, "rev-parse", "untilgreen/r1").strip() == made


async def test_links_among_the_objects_are_refused(worktree: Worktree, tmp_path: Path) -> None:
    tree, place = tree_of(worktree), tmp_path / "elsewhere"
    place.mkdir()
    free = next(f"{n:02x}" for n in range(256) if not (worktree.repository / "objects" / f"{n:02x}").exists())
    (worktree.repository / "objects" / free).symlink_to(place)

    with pytest.raises(WorkspaceNotReady, match=r"is a link\. Git never creates one there"):
        await end(worktree, tree)
