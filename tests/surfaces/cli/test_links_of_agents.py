"""An agent's links in the files of a lap lead the next driver to no other directory of the user's."""

from pathlib import Path

import pytest

from tests.surfaces.cli.helpers import Cli, git, write
from tests.surfaces.cli.test_worktree import IDENTITY, MENDED, MENDING

MINE = "not committed yet\n"


@pytest.fixture
def other(cli: Cli) -> Path:
    """Another checkout of the user's repository, with changes in it."""
    write(cli.place, {"sub/notes.txt": "old\n", ".gitignore": "*.env\nkeys/\n", "keys.txt": ""})
    git(cli.place, "add", "--all")
    git(cli.place, *IDENTITY, "commit", "--quiet", "--message", "more")
    git(cli.place, "worktree", "add", "--quiet", str(cli.tmp / "other"))
    write(cli.tmp / "other", {"sub/notes.txt": MINE, "sub/key.env": MINE})
    return cli.tmp / "other"


@pytest.mark.parametrize("mode", ["--worktree", "--in-place"])
def test_a_link_in_place_of_where_a_run_started_is_not_the_workspace(
    cli: Cli, other: Path, mode: str
) -> None:
    """It was killed with the link there; a driver that followed it would restore the files behind it."""
    once = f"test -e {cli.tmp}/once && exit; touch {cli.tmp}/once"
    agent = f"cat > /dev/null; {once}; cd ..; rm -r sub; ln -s {other}/sub sub; kill -9 $PPID; sleep 9\n"
    cli("run", "Mend it.", mode, "-a", cli.agent(agent), "-g", MENDED, cwd=cli.place / "sub")

    resumed = cli("resume", cli.ids[0])
    restored = cli("restore", f"{cli.ids[0]}@0")

    assert (other / "sub" / "notes.txt").read_text() == MINE
    assert (resumed.code, restored.code) == (2, 2)
    assert "was a directory when the run began, and is a link now" in resumed.err


@pytest.mark.parametrize(
    ("copied", "made"),
    [
        ("sub/key.env", "rm -r sub; ln -s {theirs} sub"),
        ("sub/key.env", "echo > .gitignore; ln -s {theirs}/key.env sub/key.env"),
        ("keys", "echo > .gitignore; mkdir keys; ln -s {theirs}/key.env keys/key.env"),
        ("keys", "ln -s {theirs} keys"),
    ],
    ids=["on the way", "in its place", "in a folder", "in place of a folder"],
)
def test_no_copy_for_a_fork_is_written_through_a_link(cli: Cli, other: Path, copied: str, made: str) -> None:
    write(cli.place, {"keys/key.env": "KEY=1\n", "sub/key.env": "KEY=1\n"})
    theirs, table = other / "sub", f"workspace.copy=['{copied}']"
    agent = cli.agent(f"{made.format(theirs=theirs)}\n{MENDING}")
    cli("run", "Mend it.", "--worktree", "-a", agent, "-g", MENDED, "--max-iterations", "1")

    forked = cli("fork", f"{cli.ids[0]}@1", "--set", table)

    assert (theirs / "key.env").read_text() == MINE
    assert forked.code == 2
    assert "workspace.copy" in forked.err
