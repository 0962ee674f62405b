"""Settings that an agent can write neither hide changes from a snapshot nor start a program."""

import os
from pathlib import Path

import pytest

from tests.workspace.helpers import commit, git, write
from untilgreen.workspace.factory import open_workspace
from untilgreen.workspace.git.command import Git
from untilgreen.workspace.git.repository import Repositories
from untilgreen.workspace.git.settings import Setting, frozen, overrides, read_settings, refused_filters
from untilgreen.workspace.git_workspace import GitWorkspace
from untilgreen.workspace.starting_point import starting_point
from untilgreen.workspace.worktree import Worktree


def _exclude_by_setting(place: Path, home: Path) -> None:
    write(home, {"ignored": "new.py\n"})
    git(place, "config", "core.excludesFile", str(home / "ignored"))


def _exclude_by_repository(place: Path, home: Path) -> None:
    write(place, {".git/info/exclude": "new.py\n"})


def _exclude_at_home(place: Path, home: Path) -> None:
    write(home, {".config/git/ignore": "new.py\n"})


def _clean_by_setting(place: Path, home: Path) -> None:
    write(home, {"attributes": "*.py filter=blind\n"})
    git(place, "config", "core.attributesFile", str(home / "attributes"))
    git(place, "config", "--global", "filter.blind.clean", "printf same")


def _clean_at_home(place: Path, home: Path) -> None:
    write(home, {".config/git/attributes": "*.py filter=blind\n"})
    git(place, "config", "--global", "filter.blind.clean", "printf same")


def _clean_in_the_tree(place: Path, home: Path) -> None:
    write(place, {".gitattributes": "*.py filter=blind\n"})
    git(place, "config", "filter.blind.clean", "printf same")
    git(place, "config", "--global", "filter.blind.clean", "printf same")


def _no_modes(place: Path, home: Path) -> None:
    git(place, "config", "core.fileMode", "false")


BLINDS = [
    _exclude_by_setting,
    _exclude_by_repository,
    _exclude_at_home,
    _clean_by_setting,
    _clean_at_home,
    _clean_in_the_tree,
    _no_modes,
]


@pytest.mark.parametrize("blind", BLINDS)
@pytest.mark.parametrize("again", [False, True])
async def test_settings_made_after_the_start_hide_no_change(
    blind: object, again: bool, repository: Path, private: Path, tmp_path: Path
) -> None:
    assert callable(blind)
    write(repository, {"a.py": "1\n", "run.sh": "true\n"})
    commit(repository)
    workspace = GitWorkspace(repository, "r1", private)
    before = await workspace.snapshot("0")
    (tmp_path / "home").mkdir()
    blind(repository, tmp_path / "home")
    write(repository, {"a.py": "2\n", "new.py": "1\n"})
    (repository / "run.sh").chmod(0o755)
    if again:  # resumed by another process
        workspace = GitWorkspace(repository, "r1", private)
    after = await workspace.snapshot("1")

    changed = {change.path for change in await workspace.changes(before, after)} - {".gitattributes"}
    assert changed == {"a.py", "new.py", "run.sh"}
    assert git(repository, "cat-file", "blob", f"{after}:a.py") == "2\n"


async def test_times_that_an_agent_makes_git_ignore_hide_no_change(
    repository: Path, workspace: GitWorkspace
) -> None:
    """Size and modification time stay the same; only the change time differs, which these settings ignore."""
    write(repository, {"a.py": "1\n"})
    commit(repository)
    before = await workspace.snapshot("0")
    git(repository, "config", "--global", "core.checkStat", "minimal")
    git(repository, "config", "--global", "core.trustctime", "false")
    git(repository, "config", "core.trustctime", "false")
    old = (repository / "a.py").stat()
    write(repository, {"a.py": "2\n"})
    os.utime(repository / "a.py", ns=(old.st_atime_ns, old.st_mtime_ns))

    assert await workspace.snapshot("1") != before


async def test_a_repository_that_an_agent_made_starts_no_program_of_its_own(
    tmp_path: Path, private: Path
) -> None:
    """In a sandbox, an agent can turn a directory into a repository; the next run's git works outside it."""
    place, ran = tmp_path / "plain", tmp_path / "ran"
    write(place, {"a.txt": "1\n", ".gitattributes": "* filter=agent\n"})
    git(place, "init", "--quiet")
    commit(place)
    for part in ("clean", "smudge", "process"):
        git(place, "config", f"filter.agent.{part}", f"touch {ran}; cat")
    git(place, "config", "filter.agent.required", "true")
    git(place, "config", "core.fsmonitor", f"touch {ran}")
    write(place, {"a.txt": "2\n", "b.txt": "1\n"})

    beginning = await starting_point(place, Repositories())
    workspace = await open_workspace(place, "r2", private)
    before = await workspace.snapshot("0")
    write(place, {"a.txt": "3\n"})
    await workspace.restore(before, await workspace.snapshot("1"))
    assert beginning is not None
    assert beginning.commit is not None
    worktree = Worktree(path=tmp_path / "tree", repository=beginning.repository.common, run="r2")
    await worktree.make(beginning.commit, place)

    assert not ran.exists()
    assert (tmp_path / "tree" / "a.txt").read_text() == "1\n"
    assert [line for line in workspace.warnings() if "agent" in line and "not run" in line]


@pytest.mark.parametrize(
    ("scope", "command", "refused"),
    [
        ("local", "git-lfs clean -- %f", False),
        ("local", "git lfs filter-process", False),
        ("local", '"/usr/bin/git-crypt" clean', False),
        ("local", "git-annex smudge --clean -- %f", False),
        ("local", "/top/bin/git-crypt clean", True),
        ("local", "./git-lfs clean", True),
        ("local", "git-lfs clean; touch x", True),
        ("local", "git-lfs $(touch x)", True),
        ("local", "git -c alias.lfs=!touch lfs", True),
        ("local", "sh -c x", True),
        ("worktree", "sh -c x", True),
        ("local", "'", True),
        ("global", "sh -c x", False),
        ("system", "sh -c x", False),
    ],
)
def test_filters_of_a_repository_are_well_known_programs(scope: str, command: str, refused: bool) -> None:
    settings = [Setting(scope, "filter.x.clean", command), Setting(scope, "filter.x.required", "true")]

    assert refused_filters(settings, Path("/top")) == (["x"] if refused else [])
    assert len(frozen(settings, Path("/top"))) == (0 if refused else 2)
    assert frozen(settings, Path("/top"), known=["y"]) == []


async def test_other_programs_that_a_repository_names_are_switched_off(repository: Path) -> None:
    git(repository, "config", "core.sshCommand", "touch ran")
    git(repository, "config", "protocol.ext.allow", "always")
    git(repository, "config", "--global", "credential.helper", "store")
    settings = await read_settings(Git(place=repository))

    assert overrides(settings, repository) == ("core.sshcommand=ssh", "protocol.ext.allow=never")
