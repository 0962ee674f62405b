"""git's failures come with its own words and what to do, and git gets only the variables it needs."""

import os
from pathlib import Path

import anyio
import pytest

from tests.workspace.helpers import commit, git, record_every_hook, write
from untilgreen.errors import UserError, WorkspaceNotReady
from untilgreen.workspace.git import command
from untilgreen.workspace.git.command import Git, GitFailed, environment
from untilgreen.workspace.git_workspace import GitWorkspace


async def test_a_machine_without_git_is_told_to_install_it(
    repository: Path, workspace: GitWorkspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(repository, {"a.txt": "1\n"})
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))

    with pytest.raises(WorkspaceNotReady, match="Install git"):
        await workspace.snapshot("0")


async def test_a_filter_that_is_only_in_the_workspace_is_found(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For example, one that was installed into the project's virtual environment."""
    write(
        repository, {".venv/bin/louder": "#!/bin/sh\ntr a-z A-Z\n", ".gitattributes": "*.txt filter=louder\n"}
    )
    (repository / ".venv" / "bin" / "louder").chmod(0o755)
    write(repository, {"said.txt": "said\n"})
    monkeypatch.setenv("PATH", f"{repository / '.venv' / 'bin'}:{os.environ['PATH']}")
    git = Git(place=repository)

    await git("config", "filter.louder.clean", "louder")
    await git("add", "said.txt")

    assert await git("show", ":said.txt") == b"SAID\n"


async def test_no_hook_of_the_repository_runs(repository: Path, tmp_path: Path) -> None:
    record_every_hook(repository, tmp_path / "hooks-that-ran")

    await Git(place=repository)("commit", "--quiet", "--allow-empty", "--message", "work")

    assert not (tmp_path / "hooks-that-ran").exists()


async def test_no_program_that_settings_name_looks_at_files(repository: Path, tmp_path: Path) -> None:
    write(repository, {"a.txt": "1\n"})
    commit(repository)
    record_every_hook(repository, tmp_path / "hooks-that-ran")
    git(repository, "config", "core.fsmonitor", ".git/hooks/fsmonitor")

    await Git(place=repository)("status")

    assert not (tmp_path / "hooks-that-ran").exists()


@pytest.mark.parametrize("below", ["", "src"])
async def test_a_git_in_the_workspace_is_not_ours(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, below: str
) -> None:
    """A shell with an activated virtual environment has a directory of the workspace on PATH."""
    planted = tmp_path / "planted"
    write(repository, {".venv/bin/git": f"#!/bin/sh\ntouch {planted}\n", "src/x": ""})
    (repository / ".venv" / "bin" / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{repository / '.venv' / 'bin'}:.venv/bin:{os.environ['PATH']}")

    output = await Git(place=repository / below)("version")

    assert output.startswith(b"git version")
    assert not planted.exists()


@pytest.mark.timeout(30)
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
@pytest.mark.parametrize("named", [True, False])
async def test_a_pipe_in_place_of_head_is_reported_and_not_waited_for(repository: Path, named: bool) -> None:
    folder = repository / ".git"
    (folder / "HEAD").unlink()
    os.mkfifo(folder / "HEAD")
    git = Git(place=repository, variables={"GIT_DIR": str(folder)} if named else {})

    with pytest.raises(WorkspaceNotReady, match="HEAD' is not a regular file, so git can't read it"):
        await git("rev-parse", "HEAD")


async def test_a_git_that_appears_in_front_of_ours_later_is_not_started(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For example, in a directory on the user's PATH that an agent may write to."""
    early, called = tmp_path / "bin", tmp_path / "called"
    early.mkdir()
    monkeypatch.setenv("PATH", f"{early}:{os.environ['PATH']}")
    await Git(place=repository)("status")

    (early / "git").write_text(f"#!/bin/sh\ntouch {called}\n")
    (early / "git").chmod(0o755)
    await Git(place=repository)("status")

    assert not called.exists()


async def test_a_directory_that_is_gone_is_not_mistaken_for_a_missing_git(tmp_path: Path) -> None:
    with pytest.raises(WorkspaceNotReady, match=r"The directory '.*/gone' does not exist"):
        await Git(place=tmp_path / "gone")("version")


async def test_a_failure_has_the_words_of_git(repository: Path) -> None:
    with pytest.raises(GitFailed, match=r"`git cat-file` failed in .* Not a valid object name") as failure:
        await Git(place=repository)("cat-file", "-p", "no-such-name")

    assert isinstance(failure.value, UserError)
    assert str(failure.value).endswith("Fix that, and try again.")


async def test_a_failure_without_words_is_still_a_clear_error(repository: Path) -> None:
    with pytest.raises(GitFailed, match="no reason given"):
        await Git(place=repository)("diff", "--quiet", "--no-index", "/dev/null", "/etc/hostname")


def test_only_the_variables_that_find_git_itself_are_handed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GIT_DIR", "GIT_SOMETHING_NEW", "GIT_EXEC_PATH", "GIT_SSH_COMMAND"):
        monkeypatch.setenv(name, "x")
    seen = {name for name in environment() if name.startswith("GIT_")}

    assert seen == {
        *("GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM", "GIT_EXEC_PATH", "GIT_SSH_COMMAND"),
        *("GIT_OPTIONAL_LOCKS", "GIT_TERMINAL_PROMPT"),
    }
    assert environment()["PATH"] == os.environ["PATH"]


def half_made(repository: Path) -> Path:
    """Set up a worktree that another git is still creating; returns its file that is still empty."""
    admin = repository / ".git" / "worktrees" / "other"
    write(admin, {"gitdir": f"{repository}-other/.git\n", "HEAD": "ref: refs/heads/other\n", "commondir": ""})
    return admin / "commondir"


async def test_a_worktree_that_somebody_else_is_making_is_waited_for(repository: Path) -> None:
    unwritten, git = half_made(repository), Git(place=repository)
    assert b"commondir" in (await git._attempt(["worktree", "list"], None)).stderr
    found: list[bytes] = []

    async def look() -> None:
        found.append(await git("worktree", "list"))

    async with anyio.create_task_group() as group:
        group.start_soon(look)
        await anyio.sleep(0.3)
        assert not found
        unwritten.write_text("../..\n")

    assert b"-other" in found[0]


async def test_a_worktree_that_is_never_finished_is_named(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    half_made(repository)
    monkeypatch.setattr(command, "_TRIES", 2)

    with pytest.raises(GitFailed, match=r"failed to read .*worktrees/other/commondir"):
        await Git(place=repository)("worktree", "list")
