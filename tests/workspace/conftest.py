"""Repositories to work in; git reads none of this machine's settings."""

import os
from pathlib import Path

import pytest

from tests.workspace.helpers import git
from untilgreen.workspace.git_workspace import GitWorkspace


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(autouse=True)
def no_settings_of_this_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    settings = tmp_path / "gitconfig"
    settings.write_text("[user]\nname = A\nemail = a@example.org\n[init]\ndefaultBranch = main\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository without a commit."""
    place = tmp_path / "repository"
    place.mkdir()
    git(place, "init", "--quiet")
    return place


@pytest.fixture
def private(tmp_path: Path) -> Path:
    return tmp_path / "state" / "runs" / "r1" / "workspace"


@pytest.fixture
def workspace(repository: Path, private: Path) -> GitWorkspace:
    return GitWorkspace(repository, "r1", private)
